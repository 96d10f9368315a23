/** Frames of HTTP/2 byte by byte, also those that nobody should send. */
export const [DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION] = [
  0, 1, 3, 4, 5, 6, 7, 8, 9,
] as const;
export const END_STREAM = 1;
export const END_HEADERS = 4;

export const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export const frame = (type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([number((payload.length << 8) | type), Buffer.from([flags]), number(stream), payload]);

/** A header that no table knows, nor will. Both have at most 127 bytes. */
export const header = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0x00, name.length]), Buffer.from(name), Buffer.from([value.length]), Buffer.from(value)]);

export const reset = (stream: number, code: number): Buffer => frame(RST_STREAM, 0, stream, number(code));
