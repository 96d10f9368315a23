import type { StoredService } from "../../contracts/store.ts";
import { failure } from "../../model/error-codes.ts";
import type { NetworkPolicy } from "../../model/names.ts";
import type { OperationInput } from "../../model/operations.ts";
import type { Service, ServiceList, ServiceLogs } from "../../model/service.ts";
import type { Dependencies } from "../dependencies.ts";
import { executionModeOf } from "../execution-mode.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { planService } from "./plan-service.ts";
import { PublishedPort } from "./published-port.ts";
import { readServiceLog, tailLines } from "./service-logs.ts";
import { endLeftovers, findServiceProcess, listServiceProcesses } from "./service-process.ts";
import { isActive, presentService, redactCommand, redactReadiness } from "./service-record.ts";
import { ServiceRun } from "./service-run.ts";
import { openPorts, startRun } from "./start-service.ts";

const DEFAULT_TAIL_LINES = 200;

/** The services of all workspaces. What they are is in the store, what runs of them is here. */
export class Services {
  readonly #deps: Dependencies;
  /** By workspace and name; undefined while a start has the name and no run yet. */
  readonly #runs = new Map<string, Map<string, ServiceRun | undefined>>();

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Resolves when it is ready. Else nothing of it runs, and SERVICE_NOT_READY says why. */
  async start(
    live: LiveWorkspace,
    input: OperationInput<"startService">,
    context: { signal?: AbortSignal | undefined; networkPolicy: NetworkPolicy },
  ): Promise<Service> {
    const { service_name: serviceName } = input;
    const plan = planService(live, input, context.networkPolicy);
    const runs = this.#runsOf(live.workspaceId);
    const earlier = this.#deps.store.findService(live.workspaceId, serviceName);
    if (runs.has(serviceName) || (earlier && isActive(earlier)))
      throw failure("SERVICE_EXISTS", `Service "${serviceName}" is ${earlier?.state ?? "starting"} already`);
    runs.set(serviceName, undefined);
    let run: ServiceRun;
    try {
      context.signal?.throwIfAborted();
      const ports = await openPorts(this.#deps, live, plan.ports);
      const record: StoredService = {
        serviceName,
        command: redactCommand(input.command, live.secrets.redactor),
        cwd: live.secrets.redactor.text(plan.command.cwd),
        readiness: input.readiness ? redactReadiness(input.readiness, live.secrets.redactor) : null,
        state: "starting",
        startedAt: this.#deps.clock.now(),
        readyAt: null,
        endedAt: null,
        exitCode: null,
        publishedPorts: toPublished(ports),
      };
      if (this.#runs.get(live.workspaceId) !== runs) {
        await Promise.all(ports.map((port) => port.close()));
        throw failure("WORKSPACE_NOT_RUNNING", `Workspace ${live.workspaceId} was stopped while the service started`);
      }
      run = this.#addRun(live, record, ports);
    } catch (error) {
      if (runs.get(serviceName) === undefined) runs.delete(serviceName);
      throw error;
    }
    await startRun(run, plan, context.signal);
    return this.#present(live.workspaceId, live, run.record);
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- a caller need not know that the store answers at once
  async list(workspaceId: string, live: LiveWorkspace | undefined): Promise<ServiceList> {
    const services = this.#deps.store.listServices(workspaceId).map((one) => this.#present(workspaceId, live, one));
    const running = services.filter(({ state }) => state === "running").length;
    return { workspace_id: workspaceId, count: services.length, running_count: running, services };
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- as above
  async status(workspaceId: string, live: LiveWorkspace | undefined, serviceName: string): Promise<Service> {
    return this.#present(workspaceId, live, this.#find(workspaceId, serviceName));
  }

  async logs(live: LiveWorkspace, input: OperationInput<"logsService">): Promise<ServiceLogs> {
    const { workspaceId } = live;
    const { serviceName } = this.#find(workspaceId, input.service_name);
    const { stdout, stderr } = await readServiceLog(live, serviceName);
    const tail = input.all ? null : (input.tail_lines ?? DEFAULT_TAIL_LINES);
    const [out, err] = [stdout, stderr].map(({ text }) => tailLines(text, tail ?? Infinity));
    return {
      workspace_id: workspaceId,
      service_name: serviceName,
      state: this.#find(workspaceId, serviceName).state,
      stdout: out?.text ?? "",
      stderr: err?.text ?? "",
      tail_lines: tail,
      truncated: [stdout, stderr].some(({ dropped }) => dropped) || [out, err].some((one) => one?.cut),
    };
  }

  /** One that has ended is returned as it is; what it left running ends now. */
  async stop(live: LiveWorkspace, input: OperationInput<"stopService">): Promise<Service> {
    const { workspaceId } = live;
    const { service_name: name } = input;
    // A record that is active without a run: its adoption did not work out.
    if (isActive(this.#find(workspaceId, name)) && !this.#runsOf(workspaceId).get(name)) await this.adopt(live);
    await this.#runsOf(workspaceId).get(name)?.stop();
    await endLeftovers(await live.guest(), name);
    return this.#present(workspaceId, live, this.#find(workspaceId, name));
  }

  /** After a daemon's death: takes up what runs, ends what was starting for a client that is gone, and marks what is gone. */
  async adopt(live: LiveWorkspace): Promise<void> {
    const { workspaceId } = live;
    const records = this.#deps.store.listServices(workspaceId);
    const guest = await live.guest();
    const known = new Set(records.map(({ serviceName }) => serviceName));
    for (const { process, serviceName } of await listServiceProcesses(guest))
      if (!known.has(serviceName) && !this.#runsOf(workspaceId).has(serviceName)) await guest.forgetIfThere(process);
    const orphans = records.filter((one) => isActive(one) && !this.#runsOf(workspaceId).has(one.serviceName));
    for (const record of orphans) await this.#adoptOne(live, record);
  }

  /**
   * Before a sandbox is stopped, reset or deleted: closes ports and forgets what runs, which ends with the sandbox. With `keepRecords`, what was
   * running is marked with `state`; without, the records are left alone, because the caller removes them.
   */
  async release(
    workspaceId: string,
    { keepRecords, state = "stopped" }: { keepRecords: boolean; state?: "stopped" | "failed" },
  ): Promise<void> {
    const runs = this.#runs.get(workspaceId);
    this.#runs.delete(workspaceId);
    const released = [...(runs?.values() ?? [])].flatMap((run) => (run ? [run.release()] : []));
    if (keepRecords)
      for (const record of this.#deps.store.listServices(workspaceId)) this.#end(workspaceId, record, state);
    await Promise.all(released);
  }

  /** For the end of this daemon: ports close, services and their records stay for the next one. */
  async close(): Promise<void> {
    await Promise.all([...this.#runs.keys()].map((workspaceId) => this.release(workspaceId, { keepRecords: false })));
  }

  counts(workspaceId: string): { total: number; running: number } {
    const services = this.#deps.store.listServices(workspaceId);
    return { total: services.length, running: services.filter(({ state }) => state === "running").length };
  }

  async #adoptOne(live: LiveWorkspace, record: StoredService): Promise<void> {
    const { workspaceId } = live;
    const found = await findServiceProcess(await live.guest(), record.serviceName);
    if (!found) {
      this.#end(workspaceId, record, "failed");
      return;
    }
    const ports = record.state === "running" ? await this.#openAgain(live, record) : [];
    const run = this.#addRun(live, record, ports);
    run.follow(found.process);
    if (record.state === "starting") {
      await run.fail();
      return;
    }
    run.write({ publishedPorts: toPublished(ports) });
    for (const port of ports) port.open();
  }

  /** A port that somebody else has meanwhile is not published any more; the service goes on. */
  async #openAgain(live: LiveWorkspace, record: StoredService): Promise<PublishedPort[]> {
    const ports: PublishedPort[] = [];
    for (const { guest_port: guestPort, host_port: hostPort } of record.publishedPorts) {
      try {
        ports.push(await PublishedPort.listen(live, { guestPort, hostPort, log: this.#deps.log }));
      } catch (error) {
        const { workspaceId } = live;
        this.#deps.log.warn("lost a published port", { workspaceId, hostPort, error: String(error) });
      }
    }
    return ports;
  }

  #addRun(live: LiveWorkspace, record: StoredService, ports: readonly PublishedPort[]): ServiceRun {
    const runs = this.#runsOf(live.workspaceId);
    const onEnd = () => {
      if (runs.get(record.serviceName) === run) runs.delete(record.serviceName);
    };
    const run = new ServiceRun(this.#deps, live, { record, ports, onEnd });
    runs.set(record.serviceName, run);
    return run;
  }

  /** The end of a service that nothing runs of any more. */
  #end(workspaceId: string, record: StoredService, state: "stopped" | "failed"): void {
    if (!isActive(record)) return;
    const { store, events, clock } = this.#deps;
    store.transaction(() => {
      store.putService(workspaceId, { ...record, state, endedAt: clock.now() });
      const told = { service_name: record.serviceName, state, exit_code: null };
      events.record({ kind: "service.ended", workspace_id: workspaceId, ...told });
    });
  }

  #runsOf(workspaceId: string): Map<string, ServiceRun | undefined> {
    const runs = this.#runs.get(workspaceId) ?? new Map<string, ServiceRun | undefined>();
    this.#runs.set(workspaceId, runs);
    return runs;
  }

  #find(workspaceId: string, serviceName: string): StoredService {
    const found = this.#deps.store.findService(workspaceId, serviceName);
    if (!found) throw failure("SERVICE_NOT_FOUND", `Workspace ${workspaceId} has no service "${serviceName}"`);
    return found;
  }

  #present(workspaceId: string, live: LiveWorkspace | undefined, record: StoredService): Service {
    const backend = this.#deps.store.findWorkspace(workspaceId)?.backend ?? "";
    return presentService(workspaceId, record, live?.executionMode ?? executionModeOf(this.#deps, backend));
  }
}

const toPublished = (ports: readonly PublishedPort[]): StoredService["publishedPorts"] =>
  ports.map((port) => ({ guest_port: port.guestPort, host_port: port.hostPort, host: port.host }));
