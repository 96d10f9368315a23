import { describe, expect, it } from "vitest";
import { envNames, planEnv, resolveEnv } from "./env-plan.ts";

const none = { variables: {}, answers: {} };

describe("planEnv()", () => {
  it("asks for `?text`, takes exactly `${NAME}`, and leaves everything else as it is", () => {
    const plan = planEnv({
      ASKED: "?Password for the demo",
      BARE: "?",
      TAKEN: "${HOST_VALUE}",
      INSIDE: "pre-${HOST_VALUE}",
      SPACED: "${HOST_VALUE} ",
      DOLLAR: "$HOST_VALUE",
      ODD: "${NOT A NAME}",
      QUESTION: "what?",
      EMPTY: "",
    });
    expect(plan.asked).toEqual([
      { name: "ASKED", text: "Password for the demo" },
      { name: "BARE", text: "Value of BARE" },
    ]);
    expect(plan.taken).toEqual([{ name: "TAKEN", variable: "HOST_VALUE" }]);
    expect(plan.literals).toEqual({
      INSIDE: "pre-${HOST_VALUE}",
      SPACED: "${HOST_VALUE} ",
      DOLLAR: "$HOST_VALUE",
      ODD: "${NOT A NAME}",
      QUESTION: "what?",
      EMPTY: "",
    });
    expect(envNames(plan)).toHaveLength(9);
  });
});

describe("resolveEnv()", () => {
  it("gives every value as it is, and names those that count as secrets", () => {
    const plan = planEnv({ A: "literal", B: "${HOST_B}", C: "?" });
    const value = "two\nlines $HOME ${B}";
    const resolved = resolveEnv(plan, { variables: { HOST_B: value }, answers: { C: "typed" } });
    expect(resolved.values).toEqual({ A: "literal", B: value, C: "typed" });
    expect(resolved.secret_names).toEqual(["B", "C"]);
  });

  it("G-62: names the variable that is missing, and nothing that is there", () => {
    const plan = planEnv({ FIRST: "${PRESENT}", SECOND: "${ABSENT}" });
    const given = { variables: { PRESENT: "s3cret-value" }, answers: {} };
    let told = "";
    try {
      resolveEnv(plan, given);
    } catch (error) {
      told = JSON.stringify(error, Object.getOwnPropertyNames(error));
    }
    expect(told).toContain("ABSENT");
    expect(told).not.toMatch(/s3cret|PRESENT|SECOND/);
  });

  it("takes no value from what every object has", () => {
    expect(() => resolveEnv(planEnv({ A: "${toString}" }), none)).toThrow("toString is not set");
    expect(() => resolveEnv(planEnv({ constructor: "?" }), none)).toThrow("Nobody was asked");
  });
});
