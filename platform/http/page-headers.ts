import { strongEtag } from './respond.ts';
import type { Content } from './route.ts';

// A page loads everything from this origin, without inline scripts or styles. Icons are data: URLs.
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** Headers of an HTML page. `directives` extend or replace those of the common content policy. */
export function pageHeaders(directives: Readonly<Record<string, string>>) {
  const policy = Object.entries({ ...POLICY, ...directives });
  return {
    'content-security-policy': policy.map((directive) => directive.join(' ')).join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy':
      'camera=(), geolocation=(), microphone=(), payment=(), usb=(), ' +
      'publickey-credentials-create=(self), publickey-credentials-get=(self)',
    // With no-referrer, browsers send "Origin: null", which the API refuses.
    'referrer-policy': 'same-origin',
  };
}

/** Descriptions of the page headers for the OpenAPI document. */
export const PAGE_HEADERS = {
  'Content-Security-Policy': 'What the page may load: this origin, nothing inline',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'What the page may never ask for',
};

/** Text in UTF-8 with its ETag. */
export function textContent(type: string, bytes: Uint8Array | string): Content {
  return { type: `${type}; charset=utf-8`, bytes, etag: strongEtag(bytes) };
}

/** Like `textContent`, for text that is created once per process. */
export function keptText(type: string, bytes: Uint8Array | string): Content {
  return { ...textContent(type, bytes), served: 'always' };
}
