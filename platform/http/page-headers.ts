import { strongEtag } from './respond.ts';
import type { Content } from './route.ts';

// All that a page may load comes from here, and no script or style stands in the document. Icons are
// data: addresses.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** Headers of a page for people, with what its content security policy has beside the common part. */
export function pageHeaders(...directives: string[]) {
  return {
    'content-security-policy': [...POLICY, ...directives].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    // Browsers answer no-referrer with "Origin: null", which the API refuses.
    'referrer-policy': 'same-origin',
  };
}

/** The same, as the OpenAPI document tells of them. */
export const PAGE_HEADERS = {
  'Content-Security-Policy': 'What the page may load: this origin, nothing inline',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'What the page may never ask for',
};

/** Text in UTF-8 with its ETag. */
export function textContent(type: string, bytes: Uint8Array | string): Content {
  return { type: `${type}; charset=utf-8`, bytes, etag: strongEtag(bytes) };
}

/** The same, for a text that is made once in a process. */
export function keptText(type: string, bytes: Uint8Array | string): Content {
  return { ...textContent(type, bytes), kept: true };
}
