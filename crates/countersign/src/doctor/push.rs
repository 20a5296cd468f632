//! Checks notifications on devices: whether the gateway has its key, who is notified, and whether a
//! phone could be.

use serde_json::Value;

use super::report::Line;
use crate::client::Client;
use crate::complaint::Complaint;
use crate::config::{self, Home, settings};
use crate::wire::lists::DeviceList;
use crate::wire::shown::PushView;

const GROUP: &str = "push";

/// Checks that devices can be notified.
pub(super) fn check(client: &Client, home: &Home) -> Vec<Line> {
    let key: Result<PushView, Complaint> = client.get("/v1/push").and_then(|it| it.read());
    let devices: Result<DeviceList, Complaint> = client.get("/v1/devices").and_then(|it| it.read());
    let values = config::values(&home.file()).ok().flatten();
    let api = settings::api(&values.unwrap_or(Value::Null), home.directory());
    vec![line(key, devices, &api.hosts)]
}

fn line(
    key: Result<PushView, Complaint>,
    devices: Result<DeviceList, Complaint>,
    hosts: &[String],
) -> Line {
    let devices = match key.and(devices) {
        Ok(list) => list.devices,
        Err(complaint) => return Line::warn(GROUP, complaint.message(), complaint.hint()),
    };
    let count = match devices.len() {
        0 => "no device is notified".to_owned(),
        1 => "1 device is notified".to_owned(),
        several => format!("{several} devices are notified"),
    };
    match hosts.first() {
        Some(host) => Line::ok(
            GROUP,
            format!("{count}; phones turn it on under Settings at https://{host}"),
        ),
        None => Line::ok(
            GROUP,
            format!(
                "{count}; only browsers on this machine can be: `api.hosts` names no https host"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use countersign_gate::people::DeviceView;

    use super::*;
    use crate::doctor::report::plain;

    #[expect(
        clippy::unnecessary_wraps,
        reason = "the gateway's answers come in results"
    )]
    fn devices(count: usize) -> Result<DeviceList, Complaint> {
        let device = DeviceView {
            id: "dev_1".to_owned(),
            name: "Firefox on Android".to_owned(),
            person: "ana".to_owned(),
            service: "push.example.org".to_owned(),
            created_at: 0.0,
        };
        Ok(DeviceList {
            devices: vec![device; count],
            next: None,
        })
    }

    #[test]
    fn the_line_says_who_is_notified_and_whether_a_phone_could_be() {
        let key = || {
            Ok(PushView {
                public_key: "B".to_owned(),
                shows_what: false,
            })
        };
        let hosts = ["gate.example.org".to_owned()];
        let refused = Err(Complaint::failed(
            "only approvers can do this",
            "use another key",
        ));
        let lines = [
            line(key(), devices(0), &[]),
            line(key(), devices(1), &hosts),
            line(key(), devices(2), &hosts),
            line(refused, devices(0), &hosts),
        ];
        insta::assert_snapshot!(plain(&lines), @r"
        ✓ ok   push          no device is notified; only browsers on this machine can be: `api.hosts` names no https host
        ✓ ok   push          1 device is notified; phones turn it on under Settings at https://gate.example.org
        ✓ ok   push          2 devices are notified; phones turn it on under Settings at https://gate.example.org
        ! warn push          only approvers can do this → use another key
        ");
    }
}
