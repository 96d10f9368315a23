import type Database from "libsql";
import type { Store, StoredProposal } from "../contracts/store.ts";
import type { ApprovalRule } from "../model/proposal.ts";

type ProposalsTable = Pick<
  Store,
  | "putProposal"
  | "findProposal"
  | "findProposalIds"
  | "findAsk"
  | "findContent"
  | "listProposals"
  | "countPending"
  | "countProposals"
  | "dropProposals"
  | "putRule"
  | "listRules"
  | "deleteRule"
>;

interface Row {
  readonly document: string;
}

const toProposal = ({ document }: Row): StoredProposal => JSON.parse(document) as StoredProposal;

/** Proposals outlive their workspace: one that waits can be answered when its run has ended. */
export function proposalsTable(database: Database.Database): ProposalsTable {
  const put = database.prepare(
    `INSERT INTO proposals (proposal_id, workspace_id, identity, kind, status, content_hash, created_at, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (proposal_id) DO UPDATE SET status = excluded.status, document = excluded.document`,
  );
  const find = database.prepare("SELECT document FROM proposals WHERE proposal_id = ?");
  const byPrefix = database.prepare(
    "SELECT proposal_id FROM proposals WHERE proposal_id >= ? AND proposal_id < ? ORDER BY proposal_id LIMIT ?",
  );
  const byAsk = database.prepare(
    "SELECT document FROM proposals WHERE workspace_id = ? AND EXISTS (SELECT 1 FROM json_each(document, '$.ask_ids') WHERE value = ?)",
  );
  const byContent = database.prepare(
    "SELECT document FROM proposals WHERE workspace_id = ? AND kind = ? AND content_hash = ? ORDER BY sequence DESC LIMIT 1",
  );
  const list = database.prepare("SELECT document FROM proposals ORDER BY sequence");
  const listOf = database.prepare("SELECT document FROM proposals WHERE status = ? ORDER BY sequence");
  const count = database.prepare(
    "SELECT count(*) AS number FROM proposals WHERE workspace_id = ? AND status = 'pending'",
  );
  const countSince = database.prepare(
    "SELECT count(*) AS number FROM proposals WHERE workspace_id = ? AND created_at >= ?",
  );
  const drop = database.prepare(
    "DELETE FROM proposals WHERE status != 'pending' AND (created_at < ? OR sequence <= (SELECT max(sequence) FROM proposals) - ?)",
  );
  const putRule = database.prepare(
    "INSERT INTO approval_rules (rule_id, document) VALUES (?, ?) ON CONFLICT (rule_id) DO UPDATE SET document = excluded.document",
  );
  const rules = database.prepare("SELECT document FROM approval_rules ORDER BY sequence");
  const removeRule = database.prepare("DELETE FROM approval_rules WHERE rule_id = ?");

  return {
    putProposal(proposal) {
      const { proposal_id, workspace_id, identity, kind, status, content_hash, created_at } = proposal;
      put.run([proposal_id, workspace_id, identity, kind, status, content_hash, created_at, JSON.stringify(proposal)]);
    },
    findProposal(proposalId) {
      const row = find.get([proposalId]) as Row | undefined;
      return row && toProposal(row);
    },
    findProposalIds(prefix, limit) {
      const rows = byPrefix.all([prefix, `${prefix}~`, limit]) as { proposal_id: string }[];
      return rows.map(({ proposal_id }) => proposal_id);
    },
    findAsk(workspaceId, askId) {
      const row = byAsk.get([workspaceId, askId]) as Row | undefined;
      return row && toProposal(row);
    },
    findContent(workspaceId, kind, contentHash) {
      const row = byContent.get([workspaceId, kind, contentHash]) as Row | undefined;
      return row && toProposal(row);
    },
    listProposals(status) {
      const rows = status === undefined ? list.all([]) : listOf.all([status]);
      return (rows as Row[]).map(toProposal);
    },
    countPending(workspaceId) {
      return (count.get([workspaceId]) as { number: number }).number;
    },
    countProposals(workspaceId, sinceTime) {
      return (countSince.get([workspaceId, sinceTime]) as { number: number }).number;
    },
    dropProposals({ sinceTime, most }) {
      drop.run([sinceTime, most]);
    },
    putRule(rule) {
      putRule.run([rule.rule_id, JSON.stringify(rule)]);
    },
    listRules() {
      return (rules.all([]) as Row[]).map(({ document }) => JSON.parse(document) as ApprovalRule);
    },
    deleteRule(ruleId) {
      return removeRule.run([ruleId]).changes > 0;
    },
  };
}
