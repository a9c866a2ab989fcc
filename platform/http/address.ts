import { isIPv4, isIPv6 } from 'node:net';

/**
 * Returns the address bucket of a caller: the IPv4 address or the IPv6 /64. `forwarded`
 * (`X-Forwarded-For`) counts only behind exactly `trustedProxies` proxies: the n-th entry from the
 * right is what the outermost trusted proxy saw. Without a valid entry, the address of the
 * connection counts.
 */
export function addressBucket(
  remote: string | undefined,
  forwarded: string | undefined,
  trustedProxies: number,
): string {
  const entries =
    trustedProxies > 0 ? (forwarded ?? '').split(',').map((entry) => entry.trim()) : [];
  const claimed = entries.at(-trustedProxies);
  const seen = entries.length >= trustedProxies ? bucket(claimed) : undefined;
  return seen ?? bucket(remote) ?? 'unknown';
}

/** Prefixes of addresses whose last 32 bits are an IPv4 address: `::ffff:0:0/96`, and NAT64 (RFC 6052). */
const EMBEDDING = [
  [0, 0, 0, 0, 0, 0xffff],
  [0x64, 0xff9b, 0, 0, 0, 0],
] as const;

function bucket(address: string | undefined): string | undefined {
  if (!address) return undefined;
  // Some proxies append the port.
  const [, v4 = address] = /^([\d.]+):\d+$/.exec(address) ?? [];
  if (isIPv4(v4)) return v4;
  const plain = address.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/%.*$/, '');
  if (!isIPv6(plain)) return undefined;
  const groups = expand(plain);
  if (EMBEDDING.some((prefix) => prefix.every((group, index) => group === groups[index]))) {
    const [high = 0, low = 0] = groups.slice(6);
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The /48 around an IPv6 bucket; null for IPv4, where a bucket is one address. */
export function networkOf(bucket: string): string | null {
  if (!bucket.endsWith('::/64')) return null;
  return `${bucket.split(':').slice(0, 3).join(':')}::/48`;
}

function expand(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = dotted
    ? `${dotted[1]}${hex(dotted[2], dotted[3])}:${hex(dotted[4], dotted[5])}`
    : address;
  const [left = '', right] = text.split('::');
  const before = left ? left.split(':') : [];
  const after = right ? right.split(':') : [];
  const gap = right === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array<string>(gap).fill('0'), ...after].map((group) => parseInt(group, 16));
}

const hex = (high = '0', low = '0') => (Number(high) * 256 + Number(low)).toString(16);
