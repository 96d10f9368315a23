import type { ClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { Deferred } from "./deferred.ts";
import { GUEST } from "./frame-types.ts";
import type { GuestLink, LinkStream } from "./link.ts";
import { readEmpty, readError, readProcessList, type ProcessInfo } from "./payloads.ts";
import { protocolError } from "./protocol-error.ts";

const MAX_PROCESSES = 65_536;

/** A question whose answer ends with OK or ERROR; before OK a process list may come, in parts. */
export class GuestRequest implements LinkStream {
  readonly done = new Deferred<ProcessInfo[]>();
  readonly stream: number;
  readonly #link: GuestLink;
  readonly #what: string;
  readonly #wantsList: boolean;
  readonly #processes: ProcessInfo[] = [];

  constructor(link: GuestLink, what: string, options: { wantsList: boolean }) {
    this.#link = link;
    this.#what = what;
    this.#wantsList = options.wantsList;
    this.stream = link.open(this);
  }

  receive(type: number, payload: Buffer): void {
    if (type === GUEST.OK) {
      readEmpty(payload, "OK");
      this.#link.release(this.stream);
      this.done.resolve(this.#processes);
    } else if (type === GUEST.ERROR) {
      const { errno, message } = readError(payload);
      this.#link.release(this.stream);
      this.fail(failure("COMMAND_NOT_FOUND", `Cannot ${this.#what}: ${message}`, { details: { errno } }));
    } else if (type === GUEST.PROCESS_LIST && this.#wantsList) {
      for (const process of readProcessList(payload)) this.#processes.push(process);
      if (this.#processes.length > MAX_PROCESSES) throw protocolError("a list of too many processes");
    } else {
      throw protocolError(`a frame of type ${type} as an answer`);
    }
  }

  fail(error: ClocheError): void {
    this.done.reject(error);
  }
}
