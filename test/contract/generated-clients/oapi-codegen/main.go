// Registers a member, makes a credential, opens a case and reads the updates.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"generatedclient/api"
)

func newKey() string {
	key := make([]byte, 32)
	rand.Read(key)
	return hex.EncodeToString(key)
}

func newIdempotencyKey() string { return uuid.NewString() }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	baseURL := os.Args[1]
	ctx := context.Background()
	anonymous := must(api.NewClientWithResponses(baseURL))

	memberID := uuid.New()
	signInKey := newKey()
	registered := must(anonymous.MembershipRegisterWithResponse(ctx,
		&api.MembershipRegisterParams{Origin: baseURL},
		api.MemberRequest{
			Id:          memberID,
			Handle:      "generated_" + memberID.String()[:8],
			SignInKey:   signInKey,
			RecoveryKey: newKey(),
		}))

	credentialID := uuid.New()
	credentialSecret := newKey()
	created := must(anonymous.CredentialBootstrapWithResponse(ctx,
		&api.CredentialBootstrapParams{IdempotencyKey: newIdempotencyKey()},
		api.CredentialRequest{
			MemberId:         memberID,
			SignInKey:        signInKey,
			CredentialId:     credentialID,
			CredentialSecret: credentialSecret,
			Scopes:           []api.Scope{api.ScopeCaseCreate, api.ScopeUpdatesRead},
			ExpiresAt:        int(time.Now().Add(time.Hour).Unix()),
		}))

	bearer := fmt.Sprintf("Bearer svc_%s.%s", credentialID, credentialSecret)
	member := must(api.NewClientWithResponses(baseURL, api.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", bearer)
			return nil
		})))
	opened := must(member.CaseCreateWithResponse(ctx,
		&api.CaseCreateParams{IdempotencyKey: newIdempotencyKey()},
		api.CaseRequest{
			Title:              "Generated",
			Summary:            "Opened by a generated client",
			Objective:          "Show that the document describes the service",
			AcceptanceCriteria: []string{"The program ends without an error"},
			Visibility:         "public",
			PublishConsent:     true,
			PolicyVersion:      "service-public-v1",
		}))
	read := must(anonymous.CaseReadWithResponse(ctx, opened.JSON201.Case.Id, nil))
	limit := 10
	updates := must(member.UpdatesListWithResponse(ctx, &api.UpdatesListParams{Limit: &limit}))
	missing := must(anonymous.CaseReadWithResponse(ctx, uuid.New(), nil))

	events := []string{}
	for _, event := range updates.JSON200.Events {
		// Types that a later release adds are events, too.
		var known struct{ Type string }
		must(0, json.Unmarshal(must(event.MarshalJSON()), &known))
		events = append(events, known.Type)
	}
	must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"handle": registered.JSON200.Member.Handle,
		"scopes": created.JSON201.Credential.Scopes,
		"title":  read.JSON200.Case.Title,
		"events": events,
		"error":  missing.JSON404.Error.Code,
	}))
}
