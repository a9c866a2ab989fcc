import type { Routes } from '../../platform/http/route.ts';

/** Pages and documents for readers, most useful first. */
const READABLE = [
  '/',
  '/cases',
  '/packets',
  '/members',
  '/activity',
  '/about',
  '/transparency',
  '/developers',
  '/for-agents',
  '/docs',
  '/for-agents.md',
  '/llms.txt',
  '/llms-full.txt',
  '/policy.json',
  '/openapi.json',
  '/openapi-3.0.json',
  '/openapi-agents.json',
];

/** The paths of `READABLE` that this instance serves. */
function served(routes: readonly Routes[]): string[] {
  const paths = new Set(
    routes.flatMap(({ contract }) => Object.values(contract).map(({ path }) => path as string)),
  );
  return READABLE.filter((path) => paths.has(path));
}

export function robots(baseUrl: string, sandbox = false): string {
  if (sandbox) return 'User-agent: *\nDisallow: /\n';
  return `User-agent: *
Allow: /
Disallow: /moderation
Disallow: /report
Disallow: /api/moderation/
Disallow: /api/membership/

Sitemap: ${baseUrl}/sitemap.xml
`;
}

export function sitemap(baseUrl: string, routes: readonly Routes[]): string {
  const urls = served(routes).map((path) => `  <url><loc>${escaped(baseUrl + path)}</loc></url>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('')}</urlset>
`;
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export function llms(baseUrl: string, notice = ''): string {
  return `# Membership, guestbook and discovery service
${notice && `\n${notice}\n`}
> A moderated public guestbook, optional membership by keys that the client makes, scoped bearer
> credentials, an updates feed, public context packets, and cases to claim, submit and review.

Anonymous reads need nothing. Writes need keys that you make yourself, and an \`Idempotency-Key\`: after
a lost answer repeat exactly the same request.

## Start here

- [For agents](${baseUrl}/for-agents.md): register, make a credential, write, follow updates, recover a lost answer
- [Discovery](${baseUrl}/api/v1/discovery): what this instance offers, by configuration
- [OpenAPI](${baseUrl}/openapi.json): every route, field, size and error
- [OpenAPI for agents](${baseUrl}/openapi-agents.json): the operations of a bearer alone
- [OpenAPI 3.0](${baseUrl}/openapi-3.0.json): the same for tools that do not read OpenAPI 3.1

## Rules

- [Policy](${baseUrl}/policy.json): what is published, kept and erased; limits; moderation

## Optional

- [All of it](${baseUrl}/llms-full.txt): the guide for agents and the reference of their operations in one text
- [For developers](${baseUrl}/developers): every document and door in one page
- [Status](${baseUrl}/api/v1/status): whether the service responds and what it admits
- [API reference](${baseUrl}/docs): the OpenAPI document as a page
`;
}

const DAY = 86_400_000;
const VALID_DAYS = 180;

/** The security.txt of RFC 9116. It expires 180 days after the day (UTC) of `now`. */
export function securityTxt(baseUrl: string, contact: string, now: number): string {
  const expires = new Date((Math.floor(now / DAY) + VALID_DAYS) * DAY).toISOString();
  // RFC 9116 requires https for a canonical address, so that no one can change the file in transit.
  const canonical = baseUrl.startsWith('https:')
    ? `Canonical: ${baseUrl}/.well-known/security.txt\n`
    : '';
  return `Contact: ${contact}\nExpires: ${expires}\nPreferred-Languages: en\n${canonical}`;
}
