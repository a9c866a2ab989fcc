import type { Config } from '../config.ts';
import { openApiDocument } from '../http/openapi.ts';
import { jsonContent, strongEtag } from '../http/respond.ts';
import type { Content, Feature, Handlers } from '../http/route.ts';
import type { documentsContract } from './contract.ts';

export interface DocumentsParts {
  config: Pick<Config, 'baseUrl'>;
  /** Every feature of this instance, this one too: asked for when a document is first read. */
  features: () => readonly Feature[];
}

export function documentsHandlers({
  config,
  features,
}: DocumentsParts): Handlers<typeof documentsContract> {
  let openApi: Content | undefined;
  return {
    'documents.openapi': async () => {
      openApi ??= withEtag(jsonContent(openApiDocument(features(), config.baseUrl)));
      return { status: 200, content: openApi };
    },
  };
}

function withEtag(content: Content): Content {
  return { ...content, etag: strongEtag(content.bytes) };
}
