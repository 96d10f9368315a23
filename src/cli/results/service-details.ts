import type { Service } from "../../model/service.ts";
import { formatTime } from "../output/duration.ts";
import { escapeName } from "../output/escape.ts";
import { quoteCommand } from "../output/quote-command.ts";
import { formatPairs, formatTable, type Layout } from "../output/table.ts";

export const formatPorts = (service: Pick<Service, "published_ports">): string[] =>
  service.published_ports.map(({ host, host_port, guest_port }) => `${host}:${host_port} -> ${guest_port}`);

function describeReadiness({ readiness }: Service): string {
  if (readiness === null) return "-";
  switch (readiness.type) {
    case "file":
      return `file ${readiness.path}`;
    case "tcp":
      return `tcp ${readiness.port}`;
    case "http":
      return `http ${readiness.url}`;
    case "command":
      return `command ${quoteCommand(readiness.command)}`;
  }
}

/** One service as aligned lines. */
export function formatService(service: Service): string {
  const time = (at: number | null) => (at === null ? "-" : formatTime(at));
  const pairs: [string, string][] = [
    ["name", service.service_name],
    ["state", service.state],
    ["exit code", String(service.exit_code ?? "-")],
    ["command", quoteCommand(service.command)],
    ["folder", service.cwd],
    ["ready when", describeReadiness(service)],
    ["ports", formatPorts(service).join(", ") || "-"],
    ["started", time(service.started_at)],
    ["ready", time(service.ready_at)],
    ["ended", time(service.ended_at)],
  ];
  return formatPairs(pairs.map(([name, value]) => [name, escapeName(value)] as const)).join("\n");
}

export function formatServices(services: readonly Service[], layout: Layout): string {
  const rows = services.map((service) =>
    [
      service.service_name,
      service.state,
      String(service.exit_code ?? "-"),
      formatPorts(service).join(", ") || "-",
      quoteCommand(service.command),
    ].map(escapeName),
  );
  return formatTable(["NAME", "STATE", "EXIT", "PORTS", "COMMAND"], rows, layout).join("\n");
}
