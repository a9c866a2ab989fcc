import type { OpenApiDocument } from '../../platform/http/openapi.ts';

/** What an agent with a bearer has no use for. */
const LEFT_OUT = [
  'agents',
  'disabling',
  'documents',
  'moderation',
  'operations',
  'pages',
  'passkeys',
  'transparency',
];

type Operation = { tags: string[]; security: Record<string, string[]>[] };
type Parts = Record<string, Record<string, unknown>>;

/**
 * The part of the OpenAPI document that agents call: the operations without a credential and those
 * with a bearer, and the components that they use.
 */
export function agentsOpenApi(document: OpenApiDocument): OpenApiDocument {
  const { paths = {}, components = {}, tags = [], ...rest } = document;
  const kept = Object.entries(paths as Record<string, Record<string, Operation>>)
    .map(([path, item]) => [path, withoutOthers(item)] as const)
    .filter(([, item]) => Object.keys(item).length > 0);
  const used = new Set(
    kept.flatMap(([, item]) => Object.values(item).flatMap((each) => each.tags)),
  );
  const { securitySchemes = {}, ...shared } = components as unknown as Parts;
  const { bearer } = securitySchemes;
  return {
    ...rest,
    tags: tags.filter(({ name }) => used.has(name)),
    paths: Object.fromEntries(kept),
    components: { ...usedParts(kept, shared), securitySchemes: { bearer } },
  } as unknown as OpenApiDocument;
}

function withoutOthers(item: Record<string, Operation>): Record<string, Operation> {
  return Object.fromEntries(
    Object.entries(item)
      .filter(
        ([, { tags, security }]) => !LEFT_OUT.includes(tags[0] ?? '') && isForAgents(security),
      )
      .map(([method, { security, ...operation }]) => [
        method,
        { ...operation, security: security.filter((need) => !('session' in need)) },
      ]),
  );
}

/** Whether no browser session or moderator is needed. */
const isForAgents = (security: Operation['security']): boolean =>
  security.length === 0 ||
  security.some((need) => Object.keys(need).every((scheme) => scheme === 'bearer'));

/** The components that the paths refer to, directly or through others. */
function usedParts(paths: unknown, components: Parts): Parts {
  const used = new Set<string>();
  const visit = (text: string): void => {
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      const part = components[kind]?.[name];
      if (part === undefined || used.has(`${kind}/${name}`)) continue;
      used.add(`${kind}/${name}`);
      visit(JSON.stringify(part));
    }
  };
  visit(JSON.stringify(paths));
  return Object.fromEntries(
    Object.entries(components).map(([kind, parts]) => [
      kind,
      Object.fromEntries(Object.entries(parts).filter(([name]) => used.has(`${kind}/${name}`))),
    ]),
  );
}
