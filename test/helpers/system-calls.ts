import { execFileSync } from "node:child_process";
import { readProjectFile } from "../repo/project-files.ts";

/** Beyond these nobody has looked at a call yet. */
const NEWEST = 462;
const NUMBERS = 500;
/** By these the kernel's own probes come back, on x86_64: no filter is asked. */
const UNFILTERED = [335, 336];
/** Newer than the headers of the system that tests run on. */
const NEWER = { fchmodat2: 452 };
/** They hide from a filter what they do, and whoever asks for one falls back to another. */
const HIDDEN = ["clone3", "io_uring_enter", "io_uring_register", "io_uring_setup"];
/** Refused with the arguments of `everyCall`, which are all 0: no family of sockets, and nobody's process. */
const REFUSED_FOR_ZERO = { socket: "EAFNOSUPPORT", socketpair: "EAFNOSUPPORT" };
const REFUSED_FOR_ZERO_IN_EMULATOR = { tgkill: "EPERM", rt_tgsigqueueinfo: "EPERM" };

/** A number, and up to four arguments: numbers, or what Perl makes of a text. */
export type Call = readonly [number: number, ...args: (number | string)[]];

/** Every call with a number, and some that have none yet. */
export const everyCall = (): Call[] =>
  Array.from({ length: NUMBERS }, (_, number): Call => [number]).filter(([number]) => !UNFILTERED.includes(number));

/** What a filter is to say to each of `everyCall` that it does not let pass, by docs/guarantees.md. */
export function promisedAnswers(options: { emulator?: boolean } = {}): Record<string, string> {
  const section = readProjectFile("docs/guarantees.md").split("## The seccomp filter")[1] ?? "";
  const rows = section
    .replace("`clone` with", "")
    .split("\n")
    .filter((line) => line.startsWith("| "));
  const always = rows.slice(
    0,
    rows.findIndex((row) => row.startsWith("| sockets |")),
  );
  const emulator = rows.filter((row) => row.startsWith("| in an emulator") && !row.includes(" with "));
  const names = namesIn([...always, ...(options.emulator === true ? emulator : [])].join());
  return {
    ...Object.fromEntries(names.map((name) => [name, HIDDEN.includes(name) ? "ENOSYS" : "EPERM"])),
    ...REFUSED_FOR_ZERO,
    ...(options.emulator === true && REFUSED_FOR_ZERO_IN_EMULATOR),
    ...Object.fromEntries(Array.from({ length: NUMBERS - NEWEST - 1 }, (_, at) => [NEWEST + 1 + at, "ENOSYS"])),
  };
}

const namesIn = (text: string): string[] =>
  [...text.matchAll(/`([a-z0-9_ ]+)`/g)].flatMap(([, names]) => names?.split(" ") ?? []);

/** What a filter said to each of `everyCall` that it did not let pass. */
export function answersTo(printed: string, numbers = callNumbers()): Record<string, string> {
  const names = new Map([...numbers].map(([name, number]) => [number, name]));
  const answers = printed.split(" ");
  return Object.fromEntries(
    everyCall().flatMap(([number], at) => {
      const answer = answers[at] ?? "nothing";
      return answer === "passed" ? [] : [[number > NEWEST ? number : (names.get(number) ?? number), answer]];
    }),
  );
}

/** The numbers of system calls, by name: those of this machine, or of the processor that another compiler is for. */
export function callNumbers(compiler = "gcc"): ReadonlyMap<string, number> {
  const text = execFileSync(compiler, ["-E", "-dM", "-"], { input: "#include <sys/syscall.h>\n", encoding: "utf8" });
  const found = [...text.matchAll(/^#define __NR(?:3264)?_(\w+) (\d+)$/gm)];
  return new Map([
    ...Object.entries(NEWER),
    ...found.map(([, name = "", number]): [string, number] => [name, Number(number)]),
  ]);
}

/**
 * A Perl program that tells of each call what the filter that it runs under says to it, or `passed`. A second filter, which is asked only about what the first
 * lets pass, hands calls that have a mark in their last argument to a listener, which answers them: none is ever made, so that it does not count what the
 * kernel or its capabilities would say.
 */
export function askFilter(calls: readonly Call[]): string {
  const list = calls.map(([number, ...args]) => `[${[number, ...args, 0, 0, 0, 0].slice(0, 5).join(", ")}]`);
  return String.raw`
    my ($mark, $last, $passed) = (0x7ac3, 1, 18);
    my %words = ($passed, "passed", 1, "EPERM", 38, "ENOSYS", 97, "EAFNOSUPPORT");
    my $code = join "", map { pack "SCCL", @$_ } [0x20, 0, 0, 56], [0x15, 0, 1, $mark], [6, 0, 0, 0x7fc00000], [6, 0, 0, 0x7fff0000];
    my $filter = pack "Sx6P", 4, $code;
    my $listener = syscall(317, 1, 8, $filter);
    $listener >= 0 or die "no listener: $!";
    defined(my $child = fork) or die "no child: $!";
    while (!$child) {
      my $asked = "\0" x 80;
      syscall(16, $listener + 0, 0xc0502100, $asked) == 0 or exit;
      my ($id, @data) = unpack "QLLlLQQQQQQQ", $asked;
      my $answer = pack "QqlL", $id, 0, -$passed, 0;
      syscall(16, $listener + 0, 0xc0182101, $answer);
      exit if $data[9] == $last;
    }
    my @said;
    for my $call (${list.join(", ")}) {
      $! = 0;
      syscall(shift @$call, @$call, 0, $mark);
      my $said = $! + 0;
      syscall(39, 0, 0, 0, 0, 0, 0); # takes the mark out of its register
      push @said, $words{$said} // $said;
    }
    syscall(39, 0, 0, 0, 0, $last, $mark);
    print join " ", @said;`;
}

/** A 32-bit program, whose calls have other numbers: it exits with 42 where it may make any. */
export function foreignProgram(): Buffer {
  // exit(42), then an instruction that only the kernel may use
  const code = Buffer.from("b801000000bb2a000000cd80f4", "hex");
  const header = Buffer.alloc(84);
  header.write("7f454c46010101", "hex");
  header.set([2, 0, 3, 0, 1], 16); // a program for i386
  for (const [at, value] of [
    [24, 0x10_0054],
    [28, 52],
    [40, 0x20_0034],
    [44, 1],
    [52, 1],
    [60, 0x10_0000],
    [64, 0x10_0000],
    [68, 97],
    [72, 97],
    [76, 5],
    [80, 4096],
  ] as const)
    header.writeUInt32LE(value, at);
  return Buffer.concat([header, code]);
}
