import { z } from 'zod';

/** Whether the host of an absolute URL is a loopback name or address. */
export function isLoopback(address: string): boolean {
  const host = new URL(address).hostname;
  if (host === 'localhost' || host.endsWith('.localhost') || host === '[::1]') return true;
  return /^127\.\d+\.\d+\.\d+$/.test(host);
}

/**
 * Parses an address that the service calls: https, or http on a loopback host, without user and fragment; undefined
 * for any other text.
 */
export function parseCalledUrl(address: string): URL | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(address));
  return isSafe && !url.username && !url.password && !url.hash ? url : undefined;
}

/**
 * The same page under the base URL, if the request came to another loopback name, from which the
 * browser could not write: `127.0.0.1` instead of `localhost`, for example.
 */
export function loopbackPage(baseUrl: string, host: string, url: string): string | undefined {
  const address = `http://${host}`;
  if (!isLoopback(baseUrl) || !URL.canParse(address) || !isLoopback(address)) return undefined;
  const [given, base] = [new URL(address), new URL(baseUrl)];
  // Behind a proxy with another port, the host says nothing about the address of the service.
  if (given.port !== base.port || given.hostname === base.hostname) return undefined;
  return `${base.origin}${url}`;
}

/** Whether to send HSTS. On a loopback host, HSTS would apply to every port of the host. */
export function isSecure(address: string): boolean {
  return address.startsWith('https:') && !isLoopback(address);
}

/** The default address to listen on: that of a loopback base URL, otherwise all interfaces. */
export function usualHost(address: string): string {
  if (!isLoopback(address)) return '0.0.0.0';
  const host = new URL(address).hostname;
  return host.endsWith('localhost') ? '127.0.0.1' : host.replace(/[[\]]/g, '');
}

// Browsers send an origin, and the base URL is compared with it: no path and no user name.
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
}

/** Parses BASE_URL: an https origin, or an http origin on a loopback host. */
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
