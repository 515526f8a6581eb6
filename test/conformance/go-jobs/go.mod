module okuri-jobs

go 1.26
