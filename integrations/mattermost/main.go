// Command mattermost is the Team Edition server, built from the published Go modules alone.
package main

import (
	"os"

	_ "github.com/mattermost/mattermost/server/v8/channels/app/oauthproviders/gitlab"
	_ "github.com/mattermost/mattermost/server/v8/channels/app/slashcommands"
	"github.com/mattermost/mattermost/server/v8/cmd/mattermost/commands"
)

func main() {
	if err := commands.Run(os.Args[1:]); err != nil {
		os.Exit(1)
	}
}
