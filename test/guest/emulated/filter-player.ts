/** One instruction of the kernel's packet filters: what to do, where to go on if so and if not, and a number. */
export interface Instruction {
  readonly code: number;
  readonly yes: number;
  readonly no: number;
  readonly value: number;
}

export interface SystemCall {
  /** The number that the kernel has for the processor's calls. */
  readonly machine: number;
  readonly number: number;
  readonly args: readonly number[];
}

const WORDS: Readonly<Record<number, string>> = {
  0x7fff_0000: "passed",
  0x0005_0001: "EPERM",
  0x0005_0026: "ENOSYS",
  0x0005_0061: "EAFNOSUPPORT",
};

/** The filters that `print-filter` printed, by their purpose. */
export function readFilters(printed: string): ReadonlyMap<string, readonly Instruction[]> {
  const filters = new Map<string, Instruction[]>();
  let filter: Instruction[] = [];
  for (const line of printed.trim().split("\n")) {
    const [code = NaN, yes = NaN, no = NaN, value = NaN] = line.split(" ").map(Number);
    if (Number.isNaN(code)) filters.set(line, (filter = []));
    else filter.push({ code, yes, no, value });
  }
  return filters;
}

/** What the kernel would say to a call by this filter. Knows the few instructions that the guest program uses, and throws at any other. */
export function playFilter(filter: readonly Instruction[], call: SystemCall): string {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call.number, true);
  data.setUint32(4, call.machine, true);
  call.args.forEach((value, at) => data.setBigUint64(16 + 8 * at, BigInt(value), true));
  let loaded = 0;
  for (let at = 0; at < filter.length; at++) {
    const { code, yes, no, value } = filter[at] as Instruction;
    if (code === 0x20) loaded = data.getUint32(value, true);
    else if (code === 0x54) loaded = (loaded & value) >>> 0;
    else if (code === 0x15) at += loaded === value ? yes : no;
    else if (code === 0x25) at += loaded > value ? yes : no;
    else if (code === 0x45) at += (loaded & value) !== 0 ? yes : no;
    else if (code === 0x06) return WORDS[value] ?? value.toString(16);
    else throw new Error(`There is an instruction ${code.toString(16)} that is not known here`);
  }
  throw new Error("The filter has no end");
}
