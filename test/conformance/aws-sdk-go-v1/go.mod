module okuri-conformance-v1

go 1.26

require github.com/aws/aws-sdk-go v1.44.334

require github.com/jmespath/go-jmespath v0.4.0 // indirect

require okuri-jobs v0.0.0

replace okuri-jobs => ../go-jobs
