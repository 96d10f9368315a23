import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign as signBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { randomName } from "../base/ids.ts";
import { makePrivateFolder } from "../base/private-folder.ts";
import { failure } from "../model/error-codes.ts";
import { sshPublicKey } from "./ssh-signature.ts";

const FOLDER = "keys";
const PRIVATE = "installation.pem";
const PUBLIC = "installation.pub";
/** What a key in the format of SSH is called, for people. */
const COMMENT = "cloche";

/** The key by which this installation signs its audit and its evidence. It is made once, and never leaves the home. */
export class InstallationKey {
  readonly publicKey: KeyObject;
  /** For others: one line, as `ssh-keygen` writes it. */
  readonly publicFile: string;
  readonly #private: KeyObject;

  private constructor(privateKey: KeyObject, publicFile: string) {
    this.#private = privateKey;
    this.publicKey = createPublicKey(privateKey);
    this.publicFile = publicFile;
  }

  /** Opens the key of a home, and makes it when there is none. Two at once get the same. */
  static open(home: string): InstallationKey {
    const folder = join(home, FOLDER);
    const path = join(folder, PRIVATE);
    makePrivateFolder(folder);
    const key = readKey(path) ?? makeKey(path);
    const publicFile = join(folder, PUBLIC);
    const opened = new InstallationKey(key, publicFile);
    putFile(publicFile, `${sshPublicKey(opened.publicKey)} ${COMMENT}\n`, 0o644);
    return opened;
  }

  sign(data: Uint8Array): Buffer {
    return signBytes(null, data, this.#private);
  }
}

function readKey(path: string): KeyObject | undefined {
  let text: string;
  try {
    text = readPrivate(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // said below
  }
  // SECURITY: never another key in the place of one that was damaged: what it has signed could not be told from a forgery (G-93)
  throw failure("KEY_UNUSABLE", `The key of this installation cannot be read: ${path}`, {
    hint: "Bring the file back from a backup. Without it, move it away: a new key is made, and what the old one signed needs the old public key",
  });
}

/** SECURITY: whoever can read the key can forge the audit (G-93). */
function readPrivate(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    if ((fstatSync(file).mode & 0o077) !== 0) {
      throw failure("KEY_UNUSABLE", `Other users can read the key of this installation: ${path}`, {
        hint: `Close it with \`chmod 600 ${path}\`; if somebody may have read it, move it away, and a new one is made`,
      });
    }
    return readFileSync(file, "latin1");
  } finally {
    closeSync(file);
  }
}

function makeKey(path: string): KeyObject {
  const { privateKey } = generateKeyPairSync("ed25519");
  const text = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  putFile(path, text, 0o600);
  return readKey(path) ?? privateKey;
}

/** Whole or not at all, and never over what is there. */
function putFile(path: string, text: string, mode: number): void {
  const temporary = `${path}.${randomName(6)}.tmp`;
  const file = openSync(temporary, "wx", mode);
  try {
    writeSync(file, text);
    fsyncSync(file);
    linkSync(temporary, path);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  } finally {
    closeSync(file);
    rmSync(temporary, { force: true });
  }
}
