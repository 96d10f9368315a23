const HEADER = 12;
const MAX_NAME = 253;
const CLASS_IN = 1;
const TYPE_A = 1;
/** Long enough for a tool that asks again for each connection; what a name stands for does not change. */
const TTL_SECONDS = 60;

const RESPONSE = 0x8000;
const RECURSION_DESIRED = 0x0100;
const RECURSION_AVAILABLE = 0x0080;
const FORMAT_ERROR = 1;
const NO_SUCH_NAME = 3;
const NOT_IMPLEMENTED = 4;
const REFUSED = 5;

/**
 * Answers one query of DNS: the part of the protocol that resolvers of common libraries use, and no more. Names that have an address have nothing else. Undefined for
 * what is no query and gets no answer. `lookUp` gives the IPv4 address of a name as it was sent, or undefined where there is no such name.
 */
export function answerNameQuery(query: Buffer, lookUp: (name: string) => string | undefined): Buffer | undefined {
  if (query.length < HEADER || (query.readUInt16BE(2) & RESPONSE) !== 0) return undefined;
  if (((query.readUInt16BE(2) >> 11) & 0xf) !== 0) return head(query, NOT_IMPLEMENTED, 0);
  const read = query.readUInt16BE(4) === 1 ? readQuestion(query) : undefined;
  if (!read) return head(query, FORMAT_ERROR, 0);
  const { name, type, kind, end } = read;
  const asked = query.subarray(HEADER, end);
  if (kind !== CLASS_IN) return Buffer.concat([head(query, REFUSED, 0, 1), asked]);
  const address = lookUp(name);
  if (address === undefined) return Buffer.concat([head(query, NO_SUCH_NAME, 0, 1), asked]);
  if (type !== TYPE_A) return Buffer.concat([head(query, 0, 0, 1), asked]);
  return Buffer.concat([head(query, 0, 1, 1), asked, addressRecord(address)]);
}

function readQuestion(query: Buffer) {
  const labels: string[] = [];
  let at = HEADER;
  for (let length = query[at]; length !== 0; length = query[at]) {
    // Nothing comes before the first name that it could point to, so a pointer is an error too.
    if (length === undefined || length > 63 || at + 1 + length >= query.length) return undefined;
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  const name = labels.join(".");
  if (end > query.length || name.length > MAX_NAME || labels.some((label) => label.includes("."))) return undefined;
  return { name, type: query.readUInt16BE(at + 1), kind: query.readUInt16BE(at + 3), end };
}

function head(query: Buffer, code: number, answers: number, questions = 0): Buffer {
  const bytes = Buffer.alloc(HEADER);
  query.copy(bytes, 0, 0, 2);
  bytes.writeUInt16BE(RESPONSE | (query.readUInt16BE(2) & RECURSION_DESIRED) | RECURSION_AVAILABLE | code, 2);
  bytes.writeUInt16BE(questions, 4);
  bytes.writeUInt16BE(answers, 6);
  return bytes;
}

function addressRecord(address: string): Buffer {
  const record = Buffer.alloc(16);
  record.writeUInt16BE(0xc000 | HEADER, 0); // the name of the question
  record.writeUInt16BE(TYPE_A, 2);
  record.writeUInt16BE(CLASS_IN, 4);
  record.writeUInt32BE(TTL_SECONDS, 6);
  record.writeUInt16BE(4, 10);
  record.set(address.split(".").map(Number), 12);
  return record;
}
