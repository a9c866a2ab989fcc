import { hash } from 'node:crypto';
import { join, type Markup, markup, type Part } from '../../../platform/markup.ts';
import type { Operation, Parameter, ReferenceDocument } from './document-shape.ts';

/** A command that calls the operation with example values. `<mark>` is around placeholders. */
export function curlCommand(
  { method, path, operationId, parameters = [], requestBody, security }: Operation,
  { components }: ReferenceDocument,
  baseUrl: string,
): Markup {
  const body = requestBody?.content['application/json']?.example;
  const form = requestBody?.content['application/x-www-form-urlencoded']?.example;
  const credential = credentialOf(method, security, components.securitySchemes);
  const usual = body === undefined && form === undefined ? 'GET' : 'POST';
  const url = path
    .split(/\{([a-z_]+)\}/)
    .map((part, index) => (index % 2 === 0 ? part : pathValue(part, parameters)));
  const query = parameters
    .filter((each) => each.in === 'query' && each.required)
    .map((each, index) => markup`${index === 0 ? '?' : '&'}${queryValue(each)}`);
  const options = [
    ...(credential ? [credential.option] : []),
    ...parameters.flatMap((parameter) => headerOption(parameter, operationId)),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${bodyText(body)}'`]),
    ...Object.entries(form ?? {}).map(([name, value]) => `--data-urlencode '${name}=${value}'`),
  ];
  const command = markup`curl -sS ${method === usual ? '' : `-X ${method} `}"$BASE_URL${url}${query}"`;
  return markup`<pre><code>BASE_URL='${baseUrl}'
${credential?.assignment}${join([command, ...options], ' \\\n  ')}</code></pre>`;
}

/** The body in single quotes. A recorded `expires_at` is over, so the shell computes a new one. */
function bodyText(body: unknown): string {
  return JSON.stringify(body, null, 2)
    .replaceAll("'", "'\\''")
    .replace(/(?<="expires_at": )\d+/, () => `'$(($(date +%s) + 3600))'`);
}

/** The shell variable of a credential, and the option that sends it. Only reads send an optional one. */
function credentialOf(
  method: string,
  security: Operation['security'],
  schemes: ReferenceDocument['components']['securitySchemes'],
): { assignment: Markup; option: string } | undefined {
  const [name] = security.flatMap((each) => Object.keys(each));
  const isOptional = security.some((each) => Object.keys(each).length === 0);
  const scheme = name === undefined ? undefined : schemes[name];
  if (!scheme || (isOptional && method !== 'GET')) return undefined;
  const variable = `${name}`.toUpperCase();
  const placeholder = scheme.bearerFormat ?? '<value of the cookie>';
  return {
    assignment: markup`${variable}='<mark>${placeholder}</mark>'\n`,
    option: scheme.bearerFormat
      ? `-H "Authorization: Bearer $${variable}"`
      : `-H "Cookie: ${scheme.name}=$${variable}"`,
  };
}

function pathValue(name: string, parameters: readonly Parameter[]): Part {
  const schema = parameters.find((each) => each.in === 'path' && each.name === name)?.schema;
  const value =
    schema?.enum?.[0] ??
    schema?.examples?.[0] ??
    (schema?.format === 'uuid' ? exampleUuid(name) : name);
  return markup`<mark>${String(value)}</mark>`;
}

function queryValue({ name, schema }: Parameter): Part {
  return markup`${name}=<mark>${encodeURIComponent(String(schema.examples?.[0] ?? name))}</mark>`;
}

/** Required headers, and those with an example that browsers do not set themselves. */
function headerOption({ in: place, name, required, schema }: Parameter, id: string): Part[] {
  if (place !== 'header' || name === 'Sec-Fetch-Site') return [];
  if (name === 'Origin') return ['-H "Origin: $BASE_URL"'];
  if (name === 'Idempotency-Key')
    return required ? [markup`-H 'Idempotency-Key: <mark>${exampleUuid(id)}</mark>'`] : [];
  const [example] = schema.examples ?? [];
  return example === undefined ? [] : [`-H '${name}: ${String(example)}'`];
}

/** A UUIDv4 that is always the same for a name, so that the page does not change. */
function exampleUuid(name: string): string {
  return hash('sha256', name).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
}
