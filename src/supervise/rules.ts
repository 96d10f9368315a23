import type { Clock } from "../base/clock.ts";
import { randomName } from "../base/ids.ts";
import type { Events } from "../contracts/events.ts";
import type { Store } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { OperationInput } from "../model/operations.ts";
import { type ApprovalRule, type ApprovalRuleList, type Proposal, proposalKindRow } from "../model/proposal.ts";
import { addsOf, letOut } from "../policy/supervise/adds.ts";
import { contentHash } from "../policy/supervise/content-hash.ts";
import { requireReason, requireScope } from "./answer-rules.ts";
import { readProposed } from "./read-proposed.ts";

const MAX_RULES = 256;

interface RulesOptions {
  readonly store: Store;
  readonly events: Events;
  readonly clock: Clock;
  readonly operator: string;
}

/** Rules of the operator's that answer proposals in their place: each for one content, to the letter. */
export class Rules {
  readonly #options: RulesOptions;

  constructor(options: RulesOptions) {
    this.#options = options;
  }

  list(): ApprovalRuleList {
    const rules = this.#options.store.listRules();
    return { count: rules.length, rules };
  }

  add({ kind, proposed: given, reason, agent_name: agent, scope }: OperationInput<"addApprovalRule">): ApprovalRule {
    const { store, events, clock, operator } = this.#options;
    const agent_name = agent ?? null;
    if (!proposalKindRow(kind).automatic)
      throw failure("INVALID_ARGUMENT", `A ${kind} is looked at by a person each time`, {
        hint: "Write rules for egress-block or capability-block",
      });
    const proposed = readProposed(kind, given);
    const content_hash = contentHash(kind, proposed);
    const known = store.listRules();
    const same = known.find((one) => one.content_hash === content_hash && one.agent_name === agent_name);
    if (same)
      throw failure("INVALID_ARGUMENT", `Rule ${same.rule_id} is for the same`, {
        hint: `Remove it first with \`cloche approvals rules remove ${same.rule_id}\``,
      });
    if (known.length >= MAX_RULES)
      throw failure("INVALID_ARGUMENT", `There are ${known.length} rules already, which is the most there can be`, {
        hint: "Remove one with `cloche approvals rules remove`",
      });
    const rule: ApprovalRule = {
      rule_id: `r-${randomName(10)}`,
      kind,
      proposed,
      content_hash,
      adds: addsOf(kind, proposed, { routes: [] }),
      agent_name,
      scope: requireScope(kind, scope),
      reason: requireReason(reason, true, "A rule") ?? "",
      created_at: clock.now(),
      created_by: operator,
      used: 0,
    };
    const { rule_id, adds, created_by } = rule;
    store.transaction(() => {
      store.putRule(rule);
      const told = { rule_id, proposal_kind: kind, adds, reason: rule.reason, created_by };
      events.record({ kind: "rule.added", workspace_id: null, identity: null, ...told });
    });
    return rule;
  }

  remove({ rule_id }: OperationInput<"removeApprovalRule">): ApprovalRule {
    const { store, events, operator } = this.#options;
    const rule = store.listRules().find((one) => one.rule_id === rule_id);
    if (!rule) throw failure("RULE_NOT_FOUND", `There is no rule "${rule_id}"`);
    store.transaction(() => {
      store.deleteRule(rule_id);
      const told = { rule_id, proposal_kind: rule.kind, removed_by: operator };
      events.record({ kind: "rule.removed", workspace_id: null, identity: null, ...told });
    });
    return rule;
  }

  /** SECURITY: a rule is for exactly what it says: one host, path or port more, and a person decides (G-102) */
  match({ kind, content_hash, agent_name, adds }: Proposal): ApprovalRule | undefined {
    return this.#options.store.listRules().find(
      (rule) =>
        rule.kind === kind &&
        rule.content_hash === content_hash &&
        // SECURITY: and for what the operator read: where a credential goes along, or the host has a route with more to it, a person decides (G-122)
        addsOf(kind, rule.proposed, { routes: [] }) === letOut(adds) &&
        (rule.agent_name === null || rule.agent_name === agent_name),
    );
  }

  count(ruleId: string): void {
    const { store } = this.#options;
    const rule = store.listRules().find((one) => one.rule_id === ruleId);
    if (rule) store.putRule({ ...rule, used: rule.used + 1 });
  }
}
