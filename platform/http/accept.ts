import type { Request } from './admission.ts';
import { splitUrl } from './read-request.ts';
import { isPage, type Route } from './route.ts';

/** The quality that `Accept` gives a media type, by the most specific range; 0 without any. */
function qualityOf(ranges: ReadonlyMap<string, number>, type: string): number {
  const [kind] = type.split('/');
  return ranges.get(type) ?? ranges.get(`${kind}/*`) ?? ranges.get('*/*') ?? 0;
}

/** A weight of RFC 9110, 12.4.2, from 0 to 1; also without its leading 0, which older clients leave out (`q=.2`). */
const WEIGHT = /^(?:0?\.\d+|0\.?|1(?:\.0*)?)$/;

/**
 * The quality of each entry of `Accept` or `Accept-Encoding`, by its name in lower case; of entries with one name the
 * highest. An entry whose weight cannot be read is ignored.
 */
export function readQualities(header: string): Map<string, number> {
  const qualities = new Map<string, number>();
  for (const entry of header.split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    if (WEIGHT.test(weight))
      qualities.set(name, Math.max(Number(weight), qualities.get(name) ?? 0));
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
const asksForHtml = (accept = ''): boolean => (readQualities(accept).get('text/html') ?? 0) > 0;
