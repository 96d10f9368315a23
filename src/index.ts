export { ClocheError, isClocheError } from "./base/errors.ts";
export { ERROR_CODES, isErrorCode, type ErrorCode, type ErrorDocument } from "./model/error-codes.ts";
export type {
  AgentDetail,
  AgentList,
  AgentSource,
  ListedAgent,
  ListedBottle,
  ManifestStarted,
  PlanDocument,
  PlannedRun,
  SourcedField,
  WantedValues,
} from "./model/bottle-plan.ts";
export type * from "./model/audit.ts";
export type { Egress, EgressInput } from "./model/egress.ts";
export type * from "./model/egress-seen.ts";
export type * from "./model/environment.ts";
export type { EvidenceMade } from "./model/evidence.ts";
export { EVENT_KINDS, isEventKind } from "./model/event.ts";
export type { ClocheEvent, EventHead, EventKind, EventOf, EventPayloads } from "./model/event.ts";
export type {
  Command,
  CommandSignalled,
  CommandStarted,
  ExecEvent,
  ExecResult,
  Journal,
  JournalEntry,
} from "./model/exec.ts";
export type * from "./model/files.ts";
export type * from "./model/health.ts";
export type { ModelUsage, ModelUsageTotal } from "./model/model-usage.ts";
export type { ArtifactType, ExecutionMode, NetworkPolicy, WorkspaceState } from "./model/names.ts";
export type * from "./model/prepared.ts";
export type * from "./model/provider.ts";
export { APPROVAL_SCOPES, PROPOSAL_KINDS, PROPOSAL_STATUSES } from "./model/proposal-kinds.ts";
export type { ApprovalScope, ProposalKind, ProposalStatus } from "./model/proposal-kinds.ts";
export type {
  ApprovalRule,
  ApprovalRuleList,
  Proposal,
  ProposalDetail,
  ProposalList,
  Proposed,
  ProposedRoute,
} from "./model/proposal.ts";
export type { Progress, ReportProgress } from "./model/progress.ts";
export type { CleanedUp, Leftover, Run, RunAttached, RunEnd, RunList, RunState } from "./model/run.ts";
export type { Included, LeftOut } from "./model/seed-content.ts";
export type * from "./model/service.ts";
export type * from "./model/shell.ts";
export type * from "./model/snapshot.ts";
export type * from "./model/summary.ts";
export type { DeletedWorkspace, Labels, Workspace, WorkspaceList, WorkspaceSeed } from "./model/workspace.ts";
export { Cloche } from "./sdk/cloche.ts";
export { Manifest, type ManifestObject } from "./sdk/manifest.ts";
export type * from "./sdk/options.ts";
export type { ServiceHandle, WorkspaceServices } from "./sdk/service-handle.ts";
export type { ShellHandle } from "./sdk/shell-handle.ts";
export type { WorkspaceHandle } from "./sdk/workspace-handle.ts";
export type { WorkspacePorts } from "./sdk/workspace-ports.ts";
export type { WorkspaceDisk, WorkspaceFiles, WorkspaceSnapshots } from "./sdk/workspace-parts.ts";
export { createServer, type CreateServerOptions, type EmbeddedServer } from "./mcp/create-server.ts";
export type { McpTransport } from "./mcp/mcp-transport.ts";
