/**
 * As much of WebAssembly as the scan kernel needs: expressions are put together by functions, and become a module. There is no compiler in the package, nothing is generated
 * when it is built, and no binary lies in the source.
 */
export type Code = readonly number[];

const unsigned = (value: number): number[] => {
  const bytes: number[] = [];
  for (let rest = value >>> 0; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
};
const signed = (value: number): number[] => {
  const bytes: number[] = [];
  for (let rest = value | 0; ; rest >>= 7) {
    const low = rest & 0x7f;
    if (rest >> 7 === (low & 0x40 ? -1 : 0)) return [...bytes, low];
    bytes.push(low | 0x80);
  }
};
const list = (items: readonly Code[]): number[] => [...unsigned(items.length), ...items.flat()];
const sized = (code: Code): number[] => [...unsigned(code.length), ...code];
const two =
  (...instruction: number[]) =>
  (left: Code, right: Code): Code => [...left, ...right, ...instruction];

export const i32 = (value: number): Code => [0x41, ...signed(value)];
export const get = (local: number): Code => [0x20, local];
export const set = (local: number, value: Code): Code => [...value, 0x21, local];
export const add = two(0x6a);
export const multiply = two(0x6c);
export const and = two(0x71);
export const or = two(0x72);
export const shiftLeft = two(0x74);
export const shiftRight = two(0x76);
export const isLess = two(0x49);
export const isMore = two(0x4b);
/** How many zero bits are below the lowest one. */
export const lowestBit = (value: Code): Code => [...value, 0x68];
export const countBits = (value: Code): Code => [...value, 0x69];

/** At `address`, which is a value, plus `offset`, which is known now. */
export const load8 = (address: Code, offset = 0): Code => [...address, 0x2d, 0, ...unsigned(offset)];
export const load32 = (address: Code, offset = 0): Code => [...address, 0x28, 0, ...unsigned(offset)];
export const store32 = (address: Code, value: Code, offset = 0): Code => [
  ...address,
  ...value,
  0x36,
  0,
  ...unsigned(offset),
];

/** Of sixteen bytes at once. */
export const vector = {
  local: 0x7b,
  load: (address: Code, offset = 0): Code => [...address, 0xfd, 0x00, 0, ...unsigned(offset)],
  /** Eight bytes, and zeros. */
  load8: (address: Code, offset = 0): Code => [...address, 0xfd, 0x5d, 0, ...unsigned(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [...address, ...value, 0xfd, 0x0b, 0, ...unsigned(offset)],
  splat: (byte: number): Code => [...i32(byte), 0xfd, 0x0f],
  /** The bytes of the first that the second has the numbers of. */
  pick: two(0xfd, 0x0e),
  equal: two(0xfd, 0x23),
  isLess: two(0xfd, 0x26),
  isAtLeast: two(0xfd, 0x2c),
  and: two(0xfd, 0x4e),
  /** The first without the bits of the second. */
  without: two(0xfd, 0x4f),
  or: two(0xfd, 0x50),
  subtract: two(0xfd, 0x71),
  /** One bit for each byte. */
  bits: (value: Code): Code => [...value, 0xfd, 0x64],
} as const;

const VOID = 0x40;
export const sequence = (...codes: readonly Code[]): Code => codes.flat();
export const when = (condition: Code, ...body: readonly Code[]): Code => [
  ...condition,
  0x04,
  VOID,
  ...body.flat(),
  0x0b,
];
/** As long as it holds before each round. */
export const loopWhile = (condition: Code, ...body: readonly Code[]): Code => [
  ...[0x03, VOID],
  ...when(condition, ...body, [0x0c, 1]),
  0x0b,
];
export const giveBack = (value: Code): Code => [...value, 0x0f];

/** Takes `parameters` numbers, gives one. Locals of its own come after the parameters: numbers first, then vectors. */
export interface WasmFunction {
  readonly name: string;
  readonly parameters: number;
  readonly locals: number;
  readonly vectors?: number;
  readonly body: Code;
}

const I32 = 0x7f;
const section = (id: number, code: Code): number[] => [id, ...sized(code)];
const named = (name: string): number[] => sized([...Buffer.from(name)]);

/** A module with functions that work on one memory, which it exports as `memory`. */
export function wasmModule(functions: readonly WasmFunction[], memoryPages: number): Uint8Array {
  const types = functions.map(({ parameters }) => [
    0x60,
    ...list(Array.from({ length: parameters }, () => [I32])),
    1,
    I32,
  ]);
  const bodies = functions.map(({ locals, vectors = 0, body }) =>
    sized([
      ...list([
        [...unsigned(locals), I32],
        [...unsigned(vectors), vector.local],
      ]),
      ...body,
      0x0b,
    ]),
  );
  const exported = functions.map(({ name }, index) => [...named(name), 0, ...unsigned(index)]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(types)),
    ...section(3, list(functions.map((_, index) => unsigned(index)))),
    ...section(5, [1, 1, ...unsigned(memoryPages), ...unsigned(memoryPages)]),
    ...section(7, list([...exported, [...named("memory"), 2, 0]])),
    ...section(10, list(bodies)),
  ]);
}
