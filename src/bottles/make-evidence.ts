import { createHash } from "node:crypto";
import { auditPlaces } from "../audit/audit-places.ts";
import type { Auditor } from "../audit/auditor.ts";
import { bundleText, keyId, signStatement } from "../audit/dsse.ts";
import { InstallationKey } from "../audit/installation-key.ts";
import { refuseExisting, writeOutput } from "../audit/output-file.ts";
import { sshSignature } from "../audit/ssh-signature.ts";
import { auditEntries } from "../audit/verify-audit.ts";
import { canonicalJson, type Json } from "../base/canonical-json.ts";
import { messageOf } from "../base/errors.ts";
import { packageVersion } from "../base/version.ts";
import { failure } from "../model/error-codes.ts";
import {
  type Evidence,
  EVIDENCE_NAMESPACE,
  EVIDENCE_TYPE,
  type EvidenceDiff,
  type EvidenceMade,
} from "../model/evidence.ts";
import type { OperationInput } from "../model/operations.ts";
import { runMissing } from "../model/run-missing.ts";
import { GatheredEvidence } from "../policy/evidence/gather-evidence.ts";
import { withState } from "../workspaces/diff/compared-state.ts";
import { diffWorkspace } from "../workspaces/diff/diff-workspace.ts";
import type { LiveWorkspace } from "../workspaces/live-workspace.ts";
import { isVisible } from "../workspaces/present.ts";
import type { CallContext } from "../workspaces/verb.ts";
import type { RunParts } from "./run-parts.ts";

/** Entries of the audit that are named. */
const MAX_ENTRIES = 5000;

/** What a run did and was allowed, signed, in one file, and a signature for `ssh-keygen` beside it. */
export async function makeEvidence(
  parts: RunParts,
  auditor: Auditor,
  { identity, output_path: output, overwrite = false }: OperationInput<"makeEvidence">,
  { signal, progress }: CallContext,
): Promise<EvidenceMade> {
  const signature_path = `${output}.sig`;
  if (!overwrite) for (const path of [output, signature_path]) await refuseExisting(path);
  progress({ step: "reading what was recorded" });
  const evidence = await gather(parts, auditor, identity, signal);
  const key = InstallationKey.open(parts.deps.home);
  const text = bundleText(signStatement(statementOf(evidence), key));
  signal.throwIfAborted();
  await writeOutput(signature_path, [Buffer.from(sshSignature(Buffer.from(text), EVIDENCE_NAMESPACE, key))]);
  await writeOutput(output, [Buffer.from(text)]);
  return {
    identity,
    output_path: output,
    signature_path,
    public_key_path: key.publicFile,
    key_id: keyId(key.publicKey),
    sha256: sha256(text),
    size_bytes: Buffer.byteLength(text),
    missing: evidence.missing,
  };
}

/** An in-toto statement: its subjects are the run's evidence itself, and the patch. */
function statementOf(evidence: Evidence): string {
  const predicate = JSON.parse(JSON.stringify(evidence)) as Json;
  const { run, diff } = evidence;
  const subject = [
    { name: run.identity, digest: { sha256: sha256(canonicalJson(predicate)) } },
    ...(diff.available ? [{ name: `${run.identity}.patch`, digest: { sha256: diff.sha256 } }] : []),
  ];
  return canonicalJson({ _type: "https://in-toto.io/Statement/v1", subject, predicateType: EVIDENCE_TYPE, predicate });
}

async function gather(parts: RunParts, auditor: Auditor, identity: string, signal: AbortSignal): Promise<Evidence> {
  const { deps } = parts;
  const missing: string[] = [];
  deps.journal.flush();
  const gathered = new GatheredEvidence(identity);
  let count = 0;
  for await (const { events } of deps.events.read(0, { identity })) {
    signal.throwIfAborted();
    for (const event of events) {
      if (event.kind === "log.gap") continue;
      gathered.add(event);
      count++;
    }
  }
  const { told } = gathered;
  if (count === 0)
    throw parts.states.list().includes(identity) ? notKept(identity) : runMissing(identity, parts.states.list());
  if (told.run.started_at === null) missing.push("Events from before the oldest one that is kept");
  missing.push(...gathered.missing);
  const diff = await diffOf(parts, told.run.workspace_id, signal);
  if (!diff.available) missing.push(`The diff: ${diff.reason}`);
  const audit = await audited(deps.home, auditor, identity);
  if (audit.problem !== undefined) missing.push(`The audit: ${audit.problem}`);
  return { made_at: deps.clock.now(), cloche_version: packageVersion(), ...told, diff, audit: audit.told, missing };
}

const notKept = (identity: string): Error =>
  failure("RUN_NOT_FOUND", `Nothing of run "${identity}" is kept that could be told`, {
    hint: "Events are kept for 30 days; what the audit has of it: `cloche audit show`",
  });

async function diffOf(
  { deps, workspaces }: RunParts,
  workspaceId: string | null,
  signal: AbortSignal,
): Promise<EvidenceDiff> {
  const stored = workspaceId === null ? undefined : deps.store.findWorkspace(workspaceId);
  if (workspaceId === null || !stored || !isVisible(stored))
    return {
      available: false,
      reason: "its workspace is gone: it was deleted, or the run ended well and changed nothing",
    };
  const look = async (live: LiveWorkspace): Promise<EvidenceDiff> => {
    const takeTurn = <Result>(work: () => Promise<Result>) => work(); // the baseline is in its own sandbox
    const rules = deps.seeds.ignoreRules(stored.baseline);
    const { changed, summary, patch, omitted } = await withState(deps, { stored, takeTurn, signal }, (state) =>
      diffWorkspace({ live, state, rules, signal }),
    );
    return { available: true, sha256: sha256(patch), changed, summary, patch, omitted };
  };
  try {
    return await workspaces.act("statusWorkspace", workspaceId, async ({ liveIfRunning }) =>
      liveIfRunning ? await look(liveIfRunning) : await workspaces.inspect(workspaceId, look),
    );
  } catch (error) {
    signal.throwIfAborted();
    return { available: false, reason: messageOf(error) };
  }
}

interface AuditPart {
  readonly told: Evidence["audit"];
  readonly problem?: string;
}

async function audited(home: string, auditor: Auditor, identity: string): Promise<AuditPart> {
  const told: Evidence["audit"] = { entries: { count: 0, listed: [] }, last: null };
  try {
    await auditor.caughtUp();
    for await (const { sequence, hash, identity: of } of auditEntries(auditPlaces(home).log)) {
      told.last = { sequence, hash };
      if (of !== identity) continue;
      told.entries.count++;
      if (told.entries.listed.length < MAX_ENTRIES) told.entries.listed.push({ sequence, hash });
    }
    return { told };
  } catch (error) {
    return { told, problem: messageOf(error) };
  }
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
