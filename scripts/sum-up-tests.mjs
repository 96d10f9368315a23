// Closes a run of the tests: the slowest files, what passed at its second try only, what failed, and the line `N passed, N failed`. The end of a log is the part that is always kept.
import console from "node:console";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";

const SLOWEST = 10;
const [report = "", status = "1", linted = "0"] = process.argv.slice(2);

const secondsOf = (file) => (file.endTime - file.startTime) / 1000;
const firstLine = (text) =>
  stripVTControlCharacters(text ?? "")
    .split("\n", 1)[0]
    .slice(0, 200);

let passed = 0;
let failed;
try {
  const { testResults, ...result } = JSON.parse(readFileSync(report, "utf8"));
  passed = result.numPassedTests;
  failed = result.numTotalTests - passed;
  console.log(`\nThe ${SLOWEST} slowest files:`);
  for (const file of testResults.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, SLOWEST))
    console.log(`${secondsOf(file).toFixed(1).padStart(8)} s  ${relative(".", file.name)}`);
  for (const file of testResults) {
    const wrong = file.assertionResults.filter((one) => one.status !== "passed");
    for (const one of file.assertionResults)
      if (one.status === "passed" && one.failureMessages.length > 0)
        console.log(`second try: ${relative(".", file.name)}: ${one.fullName}: ${firstLine(one.failureMessages[0])}`);
    for (const one of wrong)
      if (one.status === "failed")
        console.log(`failed: ${relative(".", file.name)}: ${one.fullName}: ${firstLine(one.failureMessages[0])}`);
      else console.log(`did not run: ${relative(".", file.name)}: ${one.fullName} (${one.status})`);
    if (file.status === "failed" && wrong.length === 0) {
      failed++; // a file that could not be loaded, or whose clean-up failed
      console.log(`failed: ${relative(".", file.name)}: ${firstLine(file.message)}`);
    }
  }
} catch (error) {
  console.log(`no test report: ${error.message}`);
  failed = 1;
}
if (Number(status) !== 0 && failed === 0) failed = 1; // an error outside any test
if (Number(linted) !== 0) {
  failed++;
  console.log("failed: make check-lint");
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
