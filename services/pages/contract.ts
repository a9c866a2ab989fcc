import { z } from 'zod';
import { PAGE_HEADERS } from '../../platform/http/page-headers.ts';
import { defineContract, type Route } from '../../platform/http/route.ts';
import { Uuid } from '../../platform/http/schemas.ts';
import { PAGES, type PageName } from './browser-pages.ts';

const file = z.object({ file: z.string().max(100) });

const page = <const Path extends `/${string}`>(name: PageName, path: Path) =>
  ({
    method: 'GET',
    path,
    summary: `The page "${PAGES[name].title}", for people`,
    tag: 'pages',
    access: 'public',
    unknownQuery: 'ignored',
    replies: { 200: { description: 'The page', type: 'text/html', headers: PAGE_HEADERS } },
    problems: [],
  }) as const satisfies Route;

const name = z.string().regex(/^[a-z_]{1,20}$/);

/** Views and items of the console have addresses, which its script reads. */
const MODERATION_ADDRESSES = {
  'pages.moderation_view': {
    ...page('moderation', '/moderation/:view'),
    params: z.object({ view: name }),
  },
  'pages.moderation_note': {
    ...page('moderation', '/moderation/items/:id'),
    params: z.object({ id: Uuid }),
  },
  'pages.moderation_record': {
    ...page('moderation', '/moderation/items/:type/:id'),
    params: z.object({ type: name, id: Uuid }),
  },
} as const;

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
  'pages.moderation': page('moderation', PAGES.moderation.path),
  ...MODERATION_ADDRESSES,
  'pages.icon': {
    method: 'GET',
    path: '/favicon.ico',
    summary: 'The icon of the pages, as SVG',
    description: 'For clients that ask for this address alone; pages have the icon inside.',
    tag: 'pages',
    access: 'public',
    unknownQuery: 'ignored',
    cacheControl: 'public, max-age=86400',
    replies: { 200: { description: 'The icon', type: 'image/svg+xml' } },
    problems: [],
  },
  'pages.script': asset('/assets/scripts/:file', 'text/javascript'),
  'pages.style': asset('/assets/styles/:file', 'text/css'),
});
