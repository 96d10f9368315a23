/** A member of an archive that a kernel unpacks as its first root. */
export interface InitrdMember {
  readonly name: string;
  /** Without content it is a folder. */
  readonly content?: Uint8Array | undefined;
}

const FOLDER = 0o040755;
const PROGRAM = 0o100755;
const END = "TRAILER!!!";

/** An archive in the "newc" format of cpio, everything owned by root. */
export function packInitrd(members: readonly InitrdMember[]): Buffer {
  const parts: Buffer[] = [];
  members.forEach((member, index) => parts.push(...packMember(member, index + 1)));
  parts.push(...packMember({ name: END, content: new Uint8Array(0) }, 0));
  return Buffer.concat(parts);
}

function packMember({ name, content }: InitrdMember, inode: number): Buffer[] {
  const mode = name === END ? 0 : content ? PROGRAM : FOLDER;
  const bytes = Buffer.from(content ?? new Uint8Array(0));
  const path = Buffer.from(`${name}\0`);
  const fields = [inode, mode, 0, 0, 1, 0, bytes.length, 0, 0, 0, 0, path.length, 0];
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, "0")).join("")}`);
  return [padded(Buffer.concat([header, path])), padded(bytes)];
}

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
