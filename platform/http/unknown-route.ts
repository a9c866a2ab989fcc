import { Problem, withoutKeys } from './problems.ts';

const MAX_SHOWN = 200;

/** The problem for a path that no route has. `isRoute` reports whether a route has a path. */
export function unknownRoute(path: string, isRoute: (path: string) => boolean): Problem {
  return new Problem('not_found', { message: messageFor(path, isRoute) });
}

function messageFor(path: string, isRoute: (path: string) => boolean): string {
  const bare = path.replace(/\/$/, '');
  if (bare === '/api' || bare === '/api/v1')
    return 'No such route. Start at /api/v1/discovery, or read /openapi.json.';
  const shown = withoutKeys(path).slice(0, MAX_SHOWN);
  return bare !== path && isRoute(bare)
    ? `No such route: ${shown}. Use ${withoutKeys(bare).slice(0, MAX_SHOWN)}, without the slash at the end.`
    : `No such route: ${shown}; see /openapi.json.`;
}
