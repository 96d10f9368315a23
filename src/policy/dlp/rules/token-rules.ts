import type { Rule } from "../detector.ts";
import { ADDRESS_RULES } from "./addresses.ts";
import { CHAT_RULES } from "./chat.ts";
import { CLOUD_RULES } from "./cloud.ts";
import { CODE_HOST_RULES } from "./code-hosts.ts";
import { HINT_RULES } from "./hints.ts";
import { MODEL_RULES } from "./models.ts";
import { PAYMENT_RULES } from "./payment.ts";
import { PRIVATE_KEY_RULES } from "./private-keys.ts";
import { REGISTRY_RULES } from "./registries.ts";
import { SERVICE_RULES } from "./services.ts";

/** Everything that is looked for unless a policy says otherwise. */
export const TOKEN_RULES: readonly Rule[] = [
  ...CLOUD_RULES,
  ...CODE_HOST_RULES,
  ...REGISTRY_RULES,
  ...CHAT_RULES,
  ...PAYMENT_RULES,
  ...MODEL_RULES,
  ...SERVICE_RULES,
  ...ADDRESS_RULES,
  ...PRIVATE_KEY_RULES,
];

/** The same with those that only guess. */
export const ALL_RULES: readonly Rule[] = [...TOKEN_RULES, ...HINT_RULES];
