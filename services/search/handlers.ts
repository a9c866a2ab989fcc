import type pg from 'pg';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { searchContract } from './contract.ts';
import { findPublic } from './find-public.ts';

export interface SearchDeps {
  readPool: pg.Pool;
}

function searchHandlers({ readPool }: SearchDeps): Handlers<typeof searchContract> {
  return {
    'search.public': async ({ query: { q, type, cursor, limit }, request }) => {
      const asked = { words: q, kind: type, cursor, limit };
      const found = await findPublic(readPool, asked, request.gone());
      return isRefusal(found) ? found : { status: 200, body: { status: 'ok', ...found } };
    },
  };
}

export const routes = (deps: SearchDeps): readonly Routes[] => [
  implement(searchContract, searchHandlers(deps)),
];
