import { z } from 'zod';
import { PAGE_HEADERS } from '../../platform/http/page-headers.ts';
import { defineContract, type Route } from '../../platform/http/route.ts';
import { PAGES, type PageName } from './pages.ts';

const file = z.object({ file: z.string().max(100) });

const page = (name: PageName) =>
  ({
    method: 'GET',
    path: PAGES[name].path,
    summary: `The page "${PAGES[name].title}", for people`,
    tag: 'pages',
    access: 'public',
    unknownQuery: 'ignored',
    replies: { 200: { description: 'The page', type: 'text/html', headers: PAGE_HEADERS } },
    problems: [],
  }) as const satisfies Route;

const asset = <const Path extends `/${string}`>(path: Path, type: string) =>
  ({
    method: 'GET',
    path,
    summary: `A ${type} file of the pages, which never changes under its name`,
    tag: 'pages',
    access: 'public',
    unknownQuery: 'ignored',
    cacheControl: 'public, max-age=31536000, immutable',
    params: file,
    replies: { 200: { description: 'The file', type } },
    problems: ['not_found'],
  }) as const satisfies Route;

export const pagesContract = defineContract({
  'pages.guestbook': page('guestbook'),
  'pages.moderation': page('moderation'),
  'pages.script': asset('/assets/scripts/:file', 'text/javascript'),
  'pages.style': asset('/assets/styles/:file', 'text/css'),
});
