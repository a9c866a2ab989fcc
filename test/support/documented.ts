import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument } from '../../platform/http/openapi.ts';

interface Exchange {
  method: string;
  path: string;
  status: number;
  headers: Headers;
  text: string;
}

interface DocumentedResponse {
  $ref?: string;
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema?: { $ref?: string } }>;
}

interface DocumentedOperation {
  responses: Record<string, DocumentedResponse>;
}

// Headers that any response may have, including those that Node's HTTP server adds.
const OPTIONAL_HEADERS = new Set(
  `access-control-allow-origin access-control-expose-headers connection content-encoding content-length content-type date keep-alive
   referrer-policy transfer-encoding vary x-content-type-options strict-transport-security
   x-robots-tag`.split(/\s+/),
);

const REQUIRED_HEADERS = [
  'x-request-id',
  'x-contract-version',
  'cache-control',
  'cross-origin-resource-policy',
];
// Headers that are required if documented; other documented headers depend on what happened.
const REQUIRED_IF_DOCUMENTED = ['access-control-allow-origin', 'etag', 'location'];

// The agent protocols also answer with a trailing slash.
const optionalSlash = (template: string) => (['/a2a', '/mcp'].includes(template) ? '/?' : '');

/** The document describes this cookie once, for all writes. */
const isWroteCookie = (name: string, value: string): boolean =>
  name === 'set-cookie' && value.startsWith('wrote=1;');

/** Returns a check that throws if a response's status, headers or body are not documented. */
export function createResponseCheck(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'openapi', components: document.components });
  const shared = (document.components?.responses ?? {}) as Record<string, DocumentedResponse>;
  const paths = Object.entries(document.paths ?? {}).map(([template, item]) => ({
    pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}${optionalSlash(template)}$`),
    parameters: template.split('{').length,
    item: item as Record<string, DocumentedOperation>,
  }));
  // `/a/b` has precedence over `/a/{id}`, as in the router.
  paths.sort((a, b) => a.parameters - b.parameters);

  const validators = new Map<object, ReturnType<Ajv2020['compile']>>();
  const validator = (schema: object) => {
    const cached = validators.get(schema);
    if (cached) return cached;
    const inDocument = JSON.parse(
      JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/'),
    );
    const compiled = ajv.compile(inDocument);
    validators.set(schema, compiled);
    return compiled;
  };

  return ({ method, path, status, headers, text }: Exchange): void => {
    const where = `${method} ${path} ${status}`;
    const item = paths.find(({ pattern }) => pattern.test(path.split('?')[0] ?? ''))?.item;
    if (!item) {
      if (status !== 404) throw new Error(`${where}: the path is not documented`);
      return;
    }
    // The answer to a preflight is said once, in the reference.
    if (method === 'OPTIONS' && status === 204 && text === '') return;
    // HEAD responds like GET, which the document states once for all paths.
    const supported = item[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (!supported && status !== 405) throw new Error(`${where}: the method is not documented`);
    // The response to an unsupported method is documented at the supported methods.
    const operation = (supported ?? Object.values(item)[0]) as DocumentedOperation;
    const documented = operation.responses[status];
    const sharedResponse = documented?.$ref && shared[documented.$ref.split('/').at(-1) ?? ''];
    // A description next to the reference replaces that of the shared response.
    const response = sharedResponse ? { ...sharedResponse, ...documented } : documented;
    if (!response) throw new Error(`${where} is not documented: ${text.slice(0, 300)}`);
    const declared = new Set(Object.keys(response.headers ?? {}).map((name) => name.toLowerCase()));
    for (const [name, value] of headers.entries())
      if (!declared.has(name) && !OPTIONAL_HEADERS.has(name) && !isWroteCookie(name, value))
        throw new Error(`${where}: the header ${name} is not documented`);
    const expected = REQUIRED_IF_DOCUMENTED.filter((name) => declared.has(name));
    for (const name of [...REQUIRED_HEADERS, ...expected])
      if (!headers.has(name)) throw new Error(`${where}: the header ${name} is missing`);
    if (method === 'HEAD' || text === '') return;
    const [type = ''] = (headers.get('content-type') ?? '').split(';');
    const media = response.content?.[type];
    if (!media) throw new Error(`${where}: ${type} is not documented`);
    if (type !== 'application/json') return;
    const { schema } = media;
    if (!schema) throw new Error(`${where}: the body has no schema`);
    const valid = validator(schema);
    if (!valid(JSON.parse(text)))
      throw new Error(
        `${where}: the body is not as documented: ${ajv.errorsText(valid.errors)}\n${text.slice(0, 500)}`,
      );
    if (!/\/(Bare)?Problem$/.test(schema.$ref ?? '')) return;
    const { status: code } = JSON.parse(text) as { status: string };
    if (!response.description?.includes(`\`${code}\``))
      throw new Error(`${where}: the code ${code} is not among ${response.description}`);
  };
}
