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

	"generatedclient/client"
)

func newKey() string {
	key := make([]byte, 32)
	rand.Read(key)
	return hex.EncodeToString(key)
}

func newID() string {
	id := make([]byte, 16)
	rand.Read(id)
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// result is the answer of a request that must succeed.
func result[T any](answer *T, _ *http.Response, err error) *T {
	if err != nil {
		panic(err)
	}
	return answer
}

func main() {
	baseURL := os.Args[1]
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: baseURL}}
	api := client.NewAPIClient(configuration)
	anonymous := context.Background()

	memberID := newID()
	signInKey := newKey()
	registered := result(api.MembershipAPI.MembershipRegister(anonymous).
		Origin(baseURL).
		MemberRequest(*client.NewMemberRequest(memberID, "generated_"+memberID[:8], signInKey, newKey())).
		Execute())

	credentialID := newID()
	credentialSecret := newKey()
	created := result(api.CredentialsAPI.CredentialBootstrap(anonymous).
		IdempotencyKey(newID()).
		CredentialRequest(*client.NewCredentialRequest(memberID, signInKey, credentialID, credentialSecret,
			[]client.Scope{client.CASE_CREATE, client.UPDATES_READ}, int32(time.Now().Add(time.Hour).Unix()))).
		Execute())

	member := context.WithValue(anonymous, client.ContextAccessToken,
		fmt.Sprintf("svc_%s.%s", credentialID, credentialSecret))
	opened := result(api.CasesAPI.CaseCreate(member).
		IdempotencyKey(newID()).
		CaseRequest(client.CaseRequest{
			Title:              "Generated",
			Summary:            "Opened by a generated client",
			Objective:          "Show that the document describes the service",
			AcceptanceCriteria: []string{"The program ends without an error"},
			Visibility:         "public",
			PublishConsent:     true,
			PolicyVersion:      "service-public-v1",
		}).
		Execute())
	read := result(api.CasesAPI.CaseRead(anonymous, opened.Case.Id).Execute())
	updates := result(api.UpdatesAPI.UpdatesList(member).Limit(10).Execute())
	_, _, missing := api.CasesAPI.CaseRead(anonymous, newID()).Execute()

	events := []string{}
	for _, event := range updates.Events {
		// The type of the event says which it is: the generated code takes the first that fits.
		written, err := event.MarshalJSON()
		if err != nil {
			panic(err)
		}
		var known struct{ Type string }
		if err := json.Unmarshal(written, &known); err != nil {
			panic(err)
		}
		events = append(events, known.Type)
	}
	err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"handle": registered.Member.Handle,
		"scopes": created.Credential.Scopes,
		"title":  read.Case.Title,
		"events": events,
		"error":  missing.(*client.GenericOpenAPIError).Model().(client.Problem).Error.Code,
	})
	if err != nil {
		panic(err)
	}
}
