/** Log lines of the daemon: one JSON object a line, never on stdout. */
export type LogLevel = "debug" | "info" | "warn" | "error";

export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

const ORDER: readonly LogLevel[] = ["debug", "info", "warn", "error"];

export function isLogLevel(text: string): text is LogLevel {
  return (ORDER as readonly string[]).includes(text);
}

export function createLog(write: (line: string) => void, level: LogLevel = "info"): Log {
  const at = (own: LogLevel) => (message: string, fields?: Record<string, unknown>) => {
    if (ORDER.indexOf(own) < ORDER.indexOf(level)) return;
    write(`${JSON.stringify({ time: new Date().toISOString(), level: own, message, ...fields })}\n`);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export const silentLog: Log = createLog(() => undefined, "error");
