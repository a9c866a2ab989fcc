import type { Request } from './admission.ts';
import { splitUrl } from './read-request.ts';
import { isPage, type Route } from './route.ts';

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
