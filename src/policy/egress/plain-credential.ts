import type { Place } from "./absolute-url.ts";
import { type AddressClass, addressClass } from "./address-class.ts";

const INSIDE: readonly (AddressClass | undefined)[] = ["loopback", "private", "shared", "link-local"];

/**
 * Why a request that a credential would be put into is not sent; undefined when it is.
 *
 * SECURITY: it is the sandbox that chooses between HTTP and HTTPS. What goes out without TLS everybody on the way can read, so no credential does, but to an
 * address inside that the operator has named (G-39)
 */
export function plainCredential(
  { scheme, host }: Place,
  route: { readonly connect?: string | null | undefined },
  credentials: readonly unknown[],
): string | undefined {
  if (scheme === "https" || credentials.length === 0 || isInside(route.connect ?? "")) return undefined;
  return `The gate puts no credential into a request without TLS: use https://${host}`;
}

/** Of `ADDRESS:PORT`. */
function isInside(connect: string): boolean {
  const address = connect.slice(0, connect.lastIndexOf(":")).replaceAll(/^\[|\]$/g, "");
  return INSIDE.includes(addressClass(address));
}
