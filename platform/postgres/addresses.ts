/**
 * Splits an address with several hosts, `postgres://user@host1:5432,host2:5433/database`, into one
 * address for each host. An address with one host is returned as it is.
 */
export function addressesOf(url: string): string[] {
  const [, before = '', hosts = '', after = ''] =
    /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => before + host + after) : [url];
}
