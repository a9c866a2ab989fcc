import type { OpenApiDocument } from '../../../platform/http/openapi.ts';

/** The part of OpenAPI 3.1 that `openApiDocument` writes and the reference page shows. */
export interface ReferenceDocument {
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
    responses: Record<string, ResponseObject>;
    securitySchemes: Record<string, SecurityScheme>;
  };
}

export interface SecurityScheme {
  description: string;
  /** For `http` schemes. */
  bearerFormat?: string;
  /** The cookie, for `apiKey` schemes. */
  name?: string;
}

export interface Header {
  $ref?: string;
  description?: string;
}

export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

export interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface ResponseObject {
  $ref?: string;
  description?: string;
  headers?: Record<string, Header>;
  content?: Record<string, Media>;
}

export interface OperationObject {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { description?: string; content: Record<string, Media> };
  responses: Record<string, ResponseObject>;
}

export interface Operation extends OperationObject {
  method: string;
  path: string;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  uniqueItems?: boolean;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  examples?: unknown[];
  items?: Schema;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  discriminator?: { propertyName: string; mapping: Record<string, string> };
}

export const toReferenceDocument = (document: OpenApiDocument): ReferenceDocument =>
  document as unknown as ReferenceDocument;

/** Every operation, in the order of the document. */
export function operationsOf({ paths }: ReferenceDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** The last part of a `$ref`. */
export const nameOf = ($ref: string): string => $ref.split('/').at(-1) ?? '';
