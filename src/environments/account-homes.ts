import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { errnoOf } from "../base/errors.ts";

/** Places where accounts of a host are at home. */
export interface AccountHomes {
  /** Of root and of people: uid 1000 and up. */
  readonly people: readonly string[];
  /** Of the accounts that a system has for its services. */
  readonly services: readonly string[];
}

const FIRST_PERSON = 1000;
const NOBODY = 65_534;

/** By the password file of a host, and by whatever else tells who runs this. */
export function accountHomes(passwordFile: string): AccountHomes {
  const accounts = readIfThere(passwordFile)
    .split("\n")
    .map((line) => line.split(":"))
    .map(([, , uid, , , home]) => ({ uid: Number(uid), home: home ?? "" }))
    .filter(({ home }) => home.startsWith("/"));
  const isPerson = ({ uid }: { uid: number }) => uid === 0 || (uid >= FIRST_PERSON && uid !== NOBODY);
  return {
    people: accounts.filter(isPerson).map(({ home }) => home),
    services: accounts.filter((account) => !isPerson(account)).map(({ home }) => home),
  };
}

/** Also where the account is in no file, such as one of a directory service; nothing where there is no account. */
export function ownAccountHome(): string[] {
  try {
    return [userInfo().homedir].filter((home) => home.startsWith("/"));
  } catch {
    return []; // a user id without an account
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (["ENOENT", "EACCES"].includes(errnoOf(error) ?? "")) return "";
    throw error;
  }
}
