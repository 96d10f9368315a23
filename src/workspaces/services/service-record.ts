import type { StoredService } from "../../contracts/store.ts";
import type { Command } from "../../model/exec.ts";
import type { Readiness, Service, ServiceState } from "../../model/service.ts";
import type { Redactor } from "../../policy/redactor.ts";

/** The wire form of a stored service. */
export function presentService(workspaceId: string, stored: StoredService, executionMode: string): Service {
  return {
    workspace_id: workspaceId,
    service_name: stored.serviceName,
    state: stored.state,
    command: stored.command,
    cwd: stored.cwd,
    readiness: stored.readiness,
    started_at: stored.startedAt,
    ready_at: stored.readyAt,
    ended_at: stored.endedAt,
    exit_code: stored.exitCode,
    // They are kept for who goes on from here, and lead nowhere else meanwhile.
    published_ports: stored.state === "running" ? stored.publishedPorts : [],
    execution_mode: executionMode,
  };
}

/** Whether something of it may run in the sandbox. */
export const isActive = ({ state }: { state: ServiceState }): boolean => state === "starting" || state === "running";

/** A record goes to a disk, where no secret goes. */
export function redactCommand(command: Command, redactor: Redactor): Command {
  return typeof command === "string" ? redactor.text(command) : command.map((word) => redactor.text(word));
}

export function redactReadiness(readiness: Readiness, redactor: Redactor): Readiness {
  switch (readiness.type) {
    case "file":
      return { ...readiness, path: redactor.text(readiness.path) };
    case "tcp":
      return readiness;
    case "http":
      return { ...readiness, url: redactor.text(readiness.url) };
    case "command":
      return { ...readiness, command: redactCommand(readiness.command, redactor) };
  }
}
