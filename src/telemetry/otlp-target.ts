/** Where events go, by the variables that OpenTelemetry has names for. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly serviceName: string;
}

const TIMEOUT_MS = 10_000;
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
type Env = Readonly<Record<string, string | undefined>>;

/** Undefined where nobody asks for it; a text where what is asked for cannot be done. */
export function otlpTarget(env: Env): OtlpTarget | string | undefined {
  const whole = env["OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"];
  const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const text = whole || (base && `${base.replace(/\/+$/, "")}/v1/logs`);
  if (!text || env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_LOGS_EXPORTER"] === "none")
    return undefined;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return "OTEL_EXPORTER_OTLP_ENDPOINT is no URL";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return "OTEL_EXPORTER_OTLP_ENDPOINT is no address of http or https";
  if ((env["OTEL_EXPORTER_OTLP_LOGS_PROTOCOL"] ?? env["OTEL_EXPORTER_OTLP_PROTOCOL"]) === "grpc")
    return "OTEL_EXPORTER_OTLP_PROTOCOL is grpc: only OTLP over HTTP is offered";
  // SECURITY: a password in an address would be told with each error about it, so it goes into a header (G-114)
  const authorization = basicOf(url);
  if (authorization === undefined) return "The password in OTEL_EXPORTER_OTLP_ENDPOINT cannot be read";
  [url.username, url.password] = ["", ""];
  const headers = {
    ...authorization,
    ...headersFrom(env["OTEL_EXPORTER_OTLP_LOGS_HEADERS"] ?? env["OTEL_EXPORTER_OTLP_HEADERS"] ?? ""),
  };
  if (!Object.entries(headers).every(([name, value]) => NAME.test(name) && VALUE.test(value)))
    return "OTEL_EXPORTER_OTLP_HEADERS has a header that cannot be sent";
  const timeout = Number(env["OTEL_EXPORTER_OTLP_LOGS_TIMEOUT"] ?? env["OTEL_EXPORTER_OTLP_TIMEOUT"]);
  return {
    url: url.href,
    headers,
    timeoutMs: Number.isFinite(timeout) && timeout > 0 ? timeout : TIMEOUT_MS,
    serviceName: env["OTEL_SERVICE_NAME"] || "cloche",
  };
}

/** Undefined for what is no text. */
function basicOf({ username, password }: URL): Record<string, string> | undefined {
  if (username === "" && password === "") return {};
  try {
    const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return { authorization: `Basic ${Buffer.from(text).toString("base64")}` };
  } catch {
    return undefined;
  }
}

/** `name=value,other=value`, each written as in a URL. */
function headersFrom(text: string): Record<string, string> {
  const pairs = text.split(",").flatMap((pair) => {
    const [, name = "", value = ""] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    return name === "" ? [] : [[name.toLowerCase(), decoded(value)] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
