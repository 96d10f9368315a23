/** What was done to make an environment ready on a backend, and how long each step took. */
export interface Prepared {
  environment: string;
  backend: string;
  ready: true;
  steps: PreparedStep[];
}

export interface PreparedStep {
  step: "environment" | "backend" | "create" | "exec" | "reset" | "delete";
  duration_ms: number;
}
