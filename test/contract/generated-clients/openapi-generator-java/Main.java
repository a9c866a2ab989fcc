import com.fasterxml.jackson.databind.ObjectMapper;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.CasesApi;
import org.openapitools.client.api.CredentialsApi;
import org.openapitools.client.api.MembershipApi;
import org.openapitools.client.api.UpdatesApi;
import org.openapitools.client.model.CaseRequest;
import org.openapitools.client.model.CredentialRequest;
import org.openapitools.client.model.MemberRequest;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.Scope;

/** Registers a member, makes a credential, opens a case and reads the updates. */
class Main {
  private static final ObjectMapper MAPPER = ApiClient.createDefaultObjectMapper();

  private static String newKey() {
    byte[] key = new byte[32];
    new SecureRandom().nextBytes(key);
    return HexFormat.of().formatHex(key);
  }

  private static String newIdempotencyKey() {
    return UUID.randomUUID().toString();
  }

  public static void main(String[] arguments) throws Exception {
    String baseUrl = arguments[0];
    ApiClient anonymous = new ApiClient();
    anonymous.updateBaseUri(baseUrl);

    UUID memberId = UUID.randomUUID();
    String signInKey = newKey();
    var registered = new MembershipApi(anonymous).membershipRegister(
        baseUrl,
        new MemberRequest()
            .id(memberId)
            .handle("generated_" + memberId.toString().substring(0, 8))
            .signInKey(signInKey)
            .recoveryKey(newKey()),
        null);

    UUID credentialId = UUID.randomUUID();
    String credentialSecret = newKey();
    var created = new CredentialsApi(anonymous).credentialBootstrap(
        newIdempotencyKey(),
        new CredentialRequest()
            .memberId(memberId)
            .signInKey(signInKey)
            .credentialId(credentialId)
            .credentialSecret(credentialSecret)
            .addScopesItem(Scope.CASE_CREATE)
            .addScopesItem(Scope.UPDATES_READ)
            .expiresAt((int) Instant.now().plusSeconds(3600).getEpochSecond()));

    ApiClient member = new ApiClient();
    member.updateBaseUri(baseUrl);
    String bearer = "Bearer svc_" + credentialId + "." + credentialSecret;
    member.setRequestInterceptor(request -> request.header("Authorization", bearer));
    var opened = new CasesApi(member).caseCreate(
        newIdempotencyKey(),
        new CaseRequest()
            .title("Generated")
            .summary("Opened by a generated client")
            .objective("Show that the document describes the service")
            .acceptanceCriteria(List.of("The program ends without an error"))
            .artifactId(null)
            .visibility(CaseRequest.VisibilityEnum.PUBLIC)
            .publishConsent(true)
            .policyVersion(CaseRequest.PolicyVersionEnum.SERVICE_PUBLIC_V1));
    var cases = new CasesApi(anonymous);
    var read = cases.caseRead(opened.getCase().getId(), null);
    var updates = new UpdatesApi(member).updatesList(null, null, null, 10, null);

    String error = null;
    try {
      cases.caseRead(UUID.randomUUID(), null);
    } catch (ApiException refusal) {
      error = MAPPER.readValue(refusal.getResponseBody(), Problem.class).getError().getCode();
    }
    // The type of the event says which it is: the generated code takes the first that fits.
    var events = updates.getEvents().stream()
        .map(event -> MAPPER.valueToTree(event).get("type").asText())
        .toList();
    System.out.println(MAPPER.writeValueAsString(Map.of(
        "handle", registered.getMember().getHandle(),
        "scopes", created.getCredential().getScopes(),
        "title", read.getCase().getTitle(),
        "events", events,
        "error", String.valueOf(error))));
  }
}
