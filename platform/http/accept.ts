import type { Request } from './admission.ts';
import { splitUrl } from './read-request.ts';
import { isPage, type Route } from './route.ts';

/** The quality that `Accept` gives a media type, by the most specific range; 0 without any. */
function qualityOf(ranges: ReadonlyMap<string, number>, type: string): number {
  const [kind] = type.split('/');
  return ranges.get(type) ?? ranges.get(`${kind}/*`) ?? ranges.get('*/*') ?? 0;
}

/** The quality of each entry of `Accept` or `Accept-Encoding`, by its name in lower case. */
export function readQualities(header: string): Map<string, number> {
  const qualities = new Map<string, number>();
  for (const entry of header.split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    // A quality that is not a number counts as 0, a refusal.
    qualities.set(name, quality === undefined ? 1 : Number(quality.slice(2)) || 0);
  }
  return qualities;
}

/**
 * Whether a caller prefers a media type to HTML: `Accept` names the type itself, and gives it no lower quality than
 * HTML. A range such as `text/*`, which browsers and many programs send, means HTML.
 */
export function prefersToHtml(type: string, accept = ''): boolean {
  const ranges = readQualities(accept);
  const quality = ranges.get(type) ?? 0;
  return quality > 0 && quality >= qualityOf(ranges, 'text/html');
}

/** Whether a caller prefers Markdown to HTML. */
export const prefersMarkdown = (accept?: string): boolean => prefersToHtml('text/markdown', accept);

/** Paths whose callers are programs, even where their `Accept` admits HTML. */
const FOR_PROGRAMS = /^\/(?:api|a2a|mcp|\.well-known)(?:\/|$)/;

/**
 * Whether an error is sent as a page: the caller asks for HTML, as browsers do, and the path is that
 * of a page or of nothing.
 */
export const wantsPage = (req: Request, route: Route | undefined): boolean =>
  mayWantPage(req, route) && asksForHtml(req.headers.accept);

/** Whether `Accept` decides on the form of an error. */
export function mayWantPage(req: Request, route: Route | undefined): boolean {
  if (route) return isPage(route);
  return ['GET', 'HEAD'].includes(req.method ?? '') && !FOR_PROGRAMS.test(splitUrl(req)[0]);
}

/** Whether `Accept` names HTML itself and does not exclude it. */
const asksForHtml = (accept = ''): boolean =>
  accept
    .split(',')
    .some((range) => /^\s*text\/html\s*(?:;|$)/i.test(range) && !/q=0(?:\.0*)?\s*$/i.test(range));
