/**
 * Which addresses a webhook may go to. Whoever can set a target, or the DNS record of its name,
 * must not reach what only this machine reaches: its own services, its network, the metadata of its
 * cloud.
 */
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Addresses that `allowPrivate` opens. Link-local ones, where clouds serve credentials, are not. */
const PRIVATE: readonly string[] = ["private", "loopback", "uniqueLocal", "carrierGradeNat"];

/** Metadata services on addresses of other ranges: Azure, AWS over IPv6, Alibaba Cloud. */
const METADATA: readonly string[] = ["168.63.129.16", "fd00:ec2::254", "100.100.100.200"];

/** Resolves a host name to all its addresses. @throws the system's error */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (host) => lookup(host, { all: true });

export class AddressRefusedError extends Error {
  override readonly name = "AddressRefusedError";
}

/** Why no request may go to an IP address; null: it may. */
export function whyRefused(address: string, allowPrivate: boolean): string | null {
  if (!ipaddr.isValid(address)) return `\`${address}\` is no address`;
  // An IPv4 address within an IPv6 one is judged as that IPv4 address.
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (METADATA.includes(parsed.toString())) return `${address} is the metadata service of a cloud`;
  if (range === "unicast") return null;
  if (!PRIVATE.includes(range)) return `${address} is no public address (${range})`;
  if (allowPrivate) return null;
  return `${address} is no public address (${range}); \`allowPrivate: true\` of the target allows it`;
}

/**
 * The addresses to connect to: all that the host has, each of which is allowed. The caller connects
 * to these, and does not resolve the name again, which might give others.
 *
 * @param isLoopbackOnly whether only this machine may be connected to, since nothing is encrypted.
 * @throws AddressRefusedError; the system's error where the name cannot be resolved.
 */
export async function resolveTarget(
  host: string,
  choices: { readonly allowPrivate: boolean; readonly isLoopbackOnly: boolean },
  resolve: Resolve,
): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }];
  for (const { address } of addresses) {
    const why = whyRefused(address, choices.allowPrivate);
    if (why !== null) throw new AddressRefusedError(`\`${host}\` is refused: ${why}`);
    if (choices.isLoopbackOnly && ipaddr.process(address).range() !== "loopback") {
      throw new AddressRefusedError(
        `\`${host}\` is refused: ${address} is not this machine, and \`http://\` is not encrypted`,
      );
    }
  }
  if (addresses.length === 0) throw new AddressRefusedError(`\`${host}\` has no address`);
  return addresses;
}
