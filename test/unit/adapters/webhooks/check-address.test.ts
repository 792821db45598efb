import { describe, expect, test } from "vitest";
import {
  AddressRefusedError,
  resolveTarget,
  whyRefused,
} from "../../../../services/adapters/webhooks/check-address.ts";

const PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8"];
const PRIVATE = [
  ...["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"],
  ...["127.0.0.1", "127.255.255.254", "::1", "fc00::1", "fd12:3456::1"],
  ...["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:c0a8:101", "::127.0.0.1"],
];
const NEVER = [
  ...["0.0.0.0", "0.1.2.3", "169.254.169.254", "169.254.0.1", "192.0.0.192", "192.0.2.1"],
  ...["198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
  ...["::", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "2001:db8::1"],
  ...["2002:7f00:1::1", "2001::1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "::ffff:0:7f00:1"],
  ...["::ffff:169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254"],
  ...["", "localhost", "not an address", "1.2.3.4.5"],
];

describe("an address", () => {
  test.each(PUBLIC)("%s may be connected to", (address) => {
    expect([whyRefused(address, false), whyRefused(address, true)]).toEqual([null, null]);
  });

  test.each(PRIVATE)("%s may be connected to where the target allows private ones", (address) => {
    expect(whyRefused(address, false)).toMatch(/is no public address .*`allowPrivate: true`/);
    expect(whyRefused(address, true)).toBeNull();
  });

  test.each(NEVER)("`%s` is refused, whatever the target allows", (address) => {
    expect(whyRefused(address, false)).toMatch(/no public address|metadata|is no address/);
    expect(whyRefused(address, true)).toMatch(/no public address|metadata|is no address/);
  });
});

describe("a name", () => {
  const choices = { allowPrivate: false, isLoopbackOnly: false };
  const answer = (...addresses: readonly string[]) =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

  test("is resolved to all its addresses", async () => {
    const addresses = answer("8.8.8.8", "2606:4700::1111");
    expect(await resolveTarget("a.test", choices, async () => addresses)).toEqual(addresses);
  });

  test("is refused if one of its addresses is", async () => {
    const resolve = async () => answer("8.8.8.8", "10.0.0.1");
    await expect(resolveTarget("a.test", choices, resolve)).rejects.toThrow(AddressRefusedError);
    await expect(resolveTarget("a.test", choices, resolve)).rejects.toThrow(
      "`a.test` is refused: 10.0.0.1 is no public address (private)",
    );
  });

  test("is refused without an address", async () => {
    const none = resolveTarget("a.test", choices, async () => []);
    await expect(none).rejects.toThrow("`a.test` has no address");
  });

  test("is refused without TLS unless it is this machine", async () => {
    const plain = { allowPrivate: true, isLoopbackOnly: true };
    const resolve = (address: string) => async () => answer(address);
    expect(await resolveTarget("localhost", plain, resolve("127.0.0.1"))).toHaveLength(1);
    for (const address of ["10.0.0.1", "8.8.8.8"]) {
      const refused = resolveTarget("localhost", plain, resolve(address));
      await expect(refused).rejects.toThrow(`${address} is not this machine`);
    }
  });

  test("that is an address is judged without DNS", async () => {
    const never = () => expect.unreachable("nothing is to be resolved");
    await expect(resolveTarget("127.0.0.1", choices, never)).rejects.toThrow(AddressRefusedError);
    await expect(resolveTarget("::1", choices, never)).rejects.toThrow(AddressRefusedError);
    expect(await resolveTarget("8.8.8.8", choices, never)).toEqual(answer("8.8.8.8"));
  });
});
