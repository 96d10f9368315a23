import { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { Decompress } from "fzstd";
import { type HeaderList, headerValue } from "./header-list.ts";

const MAX_ENCODINGS = 3;
/** Much out of little is a bomb: beyond that many bytes, and that many for each that came in, decoding ends. */
const BOMB_BYTES = 64 * 1024 * 1024;
const BOMB_RATIO = 200;

const NONE: readonly string[] = [];

/** The codings of a body, the last first, as they have to be undone; empty when it is as it is. */
export function codingsOf(headers: HeaderList): readonly string[] {
  const value = headerValue(headers, "content-encoding");
  if (value === undefined) return NONE;
  return value
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity")
    .reverse();
}

/** Streams that undo them one after the other; undefined when one is not known. */
export function decodersFor(codings: readonly string[]): Transform[] | undefined {
  if (codings.length > MAX_ENCODINGS) return undefined;
  const decoders = codings.map(decoderFor);
  return decoders.every((one) => one !== undefined) ? decoders.flatMap((one) => [one, bombGuard(one)]) : undefined;
}

function decoderFor(coding: string): Transform | undefined {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return inflateOfEitherKind();
    case "br":
      return createBrotliDecompress();
    case "zstd":
      return zstd();
    default:
      return undefined;
  }
}

/** With the wrapper that the standard has, or without it as many send it. */
function inflateOfEitherKind(): Transform {
  let inner: Transform | undefined;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!inner) {
        inner = ((chunk[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
        inner.on("data", (part: Buffer) => this.push(part));
        inner.once("error", (error) => this.destroy(error));
      }
      inner.write(chunk, () => done());
    },
    flush(done) {
      if (!inner) done();
      else inner.once("end", () => done()).end();
    },
    destroy(error, done) {
      inner?.destroy();
      done(error);
    },
  });
}

function zstd(): Transform {
  let bytesOut = 0;
  let bytesIn = 0;
  const out: Buffer[] = [];
  const decoder = new Decompress((part) => {
    bytesOut += part.length;
    // It gives all of a chunk at once, so a bomb has to be told here.
    if (bytesOut > BOMB_BYTES && bytesOut > bytesIn * BOMB_RATIO) throw new Error(BOMB);
    out.push(Buffer.from(part));
  });
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytesIn += chunk.length;
      try {
        decoder.push(chunk);
        for (const part of out.splice(0)) this.push(part);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done) {
      try {
        decoder.push(new Uint8Array(0), true);
        for (const part of out.splice(0)) this.push(part);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

const BOMB = "it grows beyond all measure when it is unpacked";

/** SECURITY: a small body cannot keep the gate busy with what it unpacks to (G-28, G-51) */
function bombGuard(decoder: Transform): Transform {
  let out = 0;
  let taken = 0;
  const before = decoder._transform.bind(decoder);
  decoder._transform = (chunk: Buffer, encoding, done) => {
    taken += chunk.length;
    before(chunk, encoding, done);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      out += chunk.length;
      if (out > BOMB_BYTES && out > taken * BOMB_RATIO) done(new Error(BOMB));
      else done(null, chunk);
    },
  });
}
