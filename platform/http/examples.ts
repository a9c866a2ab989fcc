import { readFileSync } from 'node:fs';
import type { createDocument } from 'zod-openapi';

type OpenApiDocument = ReturnType<typeof createDocument>;

const FILE = new URL('examples.json', import.meta.url);

interface Exchange {
  request?: unknown;
  replies: Record<string, unknown>;
}

interface Part {
  content?: Record<string, { example?: unknown }>;
}

interface Operation {
  operationId: string;
  requestBody?: Part;
  responses: Record<string, Part>;
}

/**
 * Adds recorded requests and responses to each operation as examples; `npm run examples` records
 * them. `{base_url}` in the recording becomes `baseUrl`.
 */
export function addExamples(document: OpenApiDocument, baseUrl: string): void {
  const text = readFileSync(FILE, 'utf8').replaceAll('{base_url}', baseUrl);
  const exchanges = JSON.parse(text) as Record<string, Exchange>;
  const items = Object.values(document.paths ?? {}) as Record<string, Operation>[];
  for (const { operationId, requestBody, responses } of items.flatMap((item) =>
    Object.values(item),
  )) {
    const { request, replies } = exchanges[operationId] ?? { replies: {} };
    addExample(requestBody, request);
    for (const [status, part] of Object.entries(responses)) addExample(part, replies[status]);
  }
}

function addExample(part: Part | undefined, example: unknown): void {
  const { content = {} } = part ?? {};
  const media = content['application/json'] ?? content['application/x-www-form-urlencoded'];
  if (media && example !== undefined) media.example = example;
}
