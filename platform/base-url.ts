import { z } from 'zod';

export function isLoopback(address: string): boolean {
  const host = new URL(address).hostname;
  if (host === 'localhost' || host.endsWith('.localhost') || host === '[::1]') return true;
  return /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether browsers may be told to come by https alone: on loopback that would hold for every port. */
export function isSecure(address: string): boolean {
  return address.startsWith('https:') && !isLoopback(address);
}

/** Where to listen: where a loopback address can be reached, else everywhere. */
export function usualHost(address: string): string {
  if (!isLoopback(address)) return '0.0.0.0';
  const host = new URL(address).hostname;
  return host.endsWith('localhost') ? '127.0.0.1' : host.replace(/[[\]]/g, '');
}

// Browsers send the origin, so the address may hold nothing else: no path, no account.
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
}

export const baseUrl = z
  .string()
  .refine(isOrigin, {
    message: 'must be an origin such as https://example.org, without a path',
    abort: true,
  })
  .transform((text) => new URL(text).origin)
  .refine(
    (origin) => origin.startsWith('https:') || isLoopback(origin),
    'must be https, except on a loopback host such as localhost',
  )
  .optional();
