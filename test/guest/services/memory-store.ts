import type { Store, StoredService } from "../../../src/contracts/store.ts";

type ServiceStore = Pick<
  Store,
  "putService" | "findService" | "listServices" | "findWorkspace" | "transaction" | "updateWorkspace"
>;

/** What services need of a store. Copies in and out, as one on a disk does, and keeps every state that was written. */
class MemoryServices implements ServiceStore {
  readonly states: string[] = [];
  readonly #services = new Map<string, StoredService>();

  putService(_workspaceId: string, service: StoredService): void {
    this.states.push(`${service.serviceName} ${service.state}`);
    this.#services.set(service.serviceName, structuredClone(service));
  }

  findService(_workspaceId: string, serviceName: string): StoredService | undefined {
    return structuredClone(this.#services.get(serviceName));
  }

  listServices(): StoredService[] {
    const sorted = [...this.#services.values()].sort((a, b) => (a.serviceName < b.serviceName ? -1 : 1));
    return structuredClone(sorted);
  }

  transaction<Result>(work: () => Result): Result {
    return work();
  }

  findWorkspace(): undefined {
    return undefined;
  }

  /** There is no record of the workspace. */
  updateWorkspace(): undefined {
    return undefined;
  }
}

/** Anything else that is called on it is a TypeError. */
export type MemoryStore = MemoryServices & Store;
export const MemoryStore = MemoryServices as unknown as new () => MemoryStore;
