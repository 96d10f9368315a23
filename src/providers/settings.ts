import type { ProviderChoice } from "../model/provider.ts";

/** What a setting may be: a text, a list of texts, or one of these words. */
export type SettingKind = "text" | "texts" | readonly string[];

/** A clause about the first setting that does not fit. */
export function checkSettings(
  { settings }: ProviderChoice,
  kinds: Readonly<Record<string, SettingKind>>,
): string | undefined {
  for (const [key, value] of Object.entries(settings)) {
    const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
    if (kind === undefined) {
      const allowed = Object.keys(kinds);
      return `unknown key "${key}" in "settings"; ${allowed.length === 0 ? "none is allowed" : `allowed are ${allowed.join(", ")}`}`;
    }
    if (kind === "text" && !isText(value)) return `"settings.${key}" must be a text`;
    if (kind === "texts" && !isTexts(value)) return `"settings.${key}" must be a list of texts`;
    if (Array.isArray(kind) && !kind.includes(value)) return `"settings.${key}" must be one of ${kind.join(", ")}`;
  }
  return undefined;
}

/** No program takes a zero byte. */
const isText = (value: unknown): value is string => typeof value === "string" && value !== "" && !value.includes("\0");
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string" && !one.includes("\0"));

export const textSetting = ({ settings }: ProviderChoice, key: string): string | undefined => {
  const value = settings[key];
  return isText(value) ? value : undefined;
};

export const textsSetting = ({ settings }: ProviderChoice, key: string): readonly string[] => {
  const value = settings[key];
  return isTexts(value) ? value : [];
};
