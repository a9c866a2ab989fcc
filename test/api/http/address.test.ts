import t from 'tap';
import { addressBucket } from '../../../platform/http/address.ts';

t.test('uses the IPv4 address or the IPv6 /64 as the address bucket', async (t) => {
  t.equal(addressBucket('192.0.2.7', undefined, 0), '192.0.2.7');
  t.equal(addressBucket('::ffff:192.0.2.7', undefined, 0), '192.0.2.7');
  t.equal(addressBucket('64:ff9b::192.0.2.7', undefined, 0), '192.0.2.7');
  t.equal(addressBucket('64:ff9b::c000:207', undefined, 0), '192.0.2.7');
  t.equal(addressBucket('64:ff9b:1::c000:207', undefined, 0), '64:ff9b:1:0::/64');
  t.equal(addressBucket('2001:db8:1:2:3:4:5:6', undefined, 0), '2001:db8:1:2::/64');
  t.equal(addressBucket('2001:db8::1', undefined, 0), '2001:db8:0:0::/64');
});

t.test('trusts a forwarded address behind exactly the configured proxies', async (t) => {
  const forwarded = '198.51.100.1, 203.0.113.5';
  t.equal(addressBucket('192.0.2.7', forwarded, 0), '192.0.2.7');
  t.equal(addressBucket('192.0.2.7', forwarded, 1), '203.0.113.5');
  t.equal(addressBucket('192.0.2.7', forwarded, 2), '198.51.100.1');
  t.equal(addressBucket('192.0.2.7', forwarded, 3), '192.0.2.7');
  t.equal(addressBucket('192.0.2.7', 'not an address', 1), '192.0.2.7');
  t.equal(addressBucket('192.0.2.7', '203.0.113.5:1234', 1), '203.0.113.5', 'ignores a port');
  t.equal(addressBucket('192.0.2.7', '[2001:db8::1]:1234', 1), '2001:db8:0:0::/64');
});
